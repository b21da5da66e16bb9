import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { expect, it } from 'vitest'
import { openTerminal, READY } from '../support/interactive.ts'
import { openWorld, say, type World } from '../support/world.ts'

const picture = (side: number): Buffer => PNG.sync.write(new PNG({ width: side, height: side }))
const models = { 'test-model': { contextWindow: 100_000, images: true } }

async function worldWithPictures(replies: number): Promise<World> {
  const world = await openWorld(Array.from({ length: replies }, (_, index) => say(`Seen ${index}.`)))
  world.configure({ providers: { chat: { ...world.server.providers.chat, models } } })
  world.write('shot.png', picture(4))
  return world
}

const imagesIn = (world: World, request: number): string[] => {
  const messages = world.server.requests[request]?.body['messages'] as { content: unknown }[]
  const content = messages.at(-1)?.content
  return Array.isArray(content) ? content.flatMap((part: { image_url?: { url: string } }) => part.image_url?.url ?? []) : []
}

it('headless, a file named @… that is an image is shown to the model as one', async () => {
  const world = await worldWithPictures(1)
  expect(await world.run(['-p', '@shot.png', 'What is this?'])).toMatchObject({ code: 0, stdout: 'Seen 0.\n' })
  expect(imagesIn(world, 0)).toEqual([`data:image/png;base64,${picture(4).toString('base64')}`])
  expect(JSON.stringify(world.server.requests[0]?.body['messages'])).toContain('[image: shot.png]')
})

it('in a prompt, an image that is named or in the clipboard goes along, is taken back with its text, and is sent again', async () => {
  const world = await worldWithPictures(3)
  world.write('../bin/wl-paste', `#!/bin/sh\ncat '${join(world.repo, 'shot.png')}'\n`, 0o755)
  const terminal = openTerminal(world, ['--mode', 'full'], { env: { PATH: `${world.folder}/bin:${world.env['PATH'] ?? ''}` } })
  await terminal.waitFor(READY)
  await terminal.waitFor(/\? for keys/)
  await terminal.type('Look at @shot.png please', 'enter')
  await terminal.waitFor(/Seen 0\.[^]*■ done/)
  expect(imagesIn(world, 0)).toHaveLength(1)
  await terminal.type('ctrl+v')
  await terminal.waitFor(/\[1 image with your text/)
  await terminal.type('ctrl+c')
  await terminal.waitFor((text) => !text.includes('with your text'))
  await terminal.type('ctrl+v')
  await terminal.waitFor(/\[1 image with your text/)
  await terminal.type('And this?', 'enter')
  await terminal.waitFor(/Seen 1\.[^]*■ done/)
  expect(imagesIn(world, 1)).toHaveLength(1)
  expect(world.of('input').map(({ images }) => images?.map(({ mediaType, name }) => [mediaType, name]))).toEqual([[['image/png', 'shot.png']], [['image/png', 'clipboard']]])
  expect(readFileSync(world.sessions()[0] ?? '', 'utf8')).not.toContain('base64')
})
