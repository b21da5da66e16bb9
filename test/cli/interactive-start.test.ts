import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTerminal } from '../support/interactive.ts'
import { openWorld, say } from '../support/world.ts'

it('what a person should know from the beginning is on the screen, and on stderr without one', async () => {
  const world = await openWorld([say('Hello.')], { config: { hooks: { 'before-call': [{ command: 'false' }] } } })
  symlinkSync('/etc/hostname', join(world.repo, 'AGENTS.md'))
  const said = [/hooks are configured \(before-call\), but this version runs none/, /AGENTS\.md leads outside the project/]
  const terminal = openTerminal(world, [], { columns: 160 })
  for (const text of said) await terminal.waitFor(text)
  const { code, stderr } = await world.run(['-p', 'Hi'])
  expect(code).toBe(0)
  for (const text of said) expect(stderr).toMatch(text)
})

it('--fullscreen has a screen of its own, in which PageUp leads back, and leaves what was seen last behind', async () => {
  const long = Array.from({ length: 60 }, (_, index) => `- point ${index}`).join('\n')
  const world = await openWorld([say(long)])
  const terminal = openTerminal(world, ['--fullscreen'], { columns: 80, rows: 20 })
  await terminal.waitFor(/^> ?$[^]*\? for keys/m)
  await terminal.type('Count', 'enter')
  await terminal.waitFor(/point 59[^]*■ done/)
  await terminal.type('pageup', 'pageup', 'pageup')
  await terminal.waitFor((text) => /point 3\d/.test(text) && !text.includes('point 59') && text.includes('lines below: PageDown'))
  expect(terminal.screen().split('\n').length).toBeLessThanOrEqual(20)
  await terminal.type('Again', 'pagedown', 'pagedown', 'pagedown', 'pagedown')
  await terminal.waitFor(/point 59[^]*■ done[^]*> Again/)
  await terminal.type('ctrl+u', 'ctrl+d')
  expect((await terminal.exit()).exitCode).toBe(0)
  expect(terminal.bytes().split('\x1b[?1049h')).toHaveLength(2)
  expect(terminal.bytes().split('\x1b[?1049l')[1]).toMatch(/point 59[^]*done[^]*is saved/)
})
