import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { expect, test } from 'vitest'
import { firstPaint } from '../../src/ui/first-paint.ts'
import { openKeyboard } from '../../src/ui/keyboard.ts'

const HEAD = { version: '0.1.0', folder: '~/w', branch: null, model: null, mode: 'ask', colour: false }
const passed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a character that is cut in two by the hand-over arrives whole', async () => {
  const input = Object.assign(new PassThrough(), { setRawMode: () => undefined })
  const painted = firstPaint(HEAD, input, { columns: 80, write: () => undefined }, () => undefined)
  const bytes = Buffer.from('読む')
  input.write(bytes.subarray(0, 4))
  await passed()
  const { early } = painted.handOver()
  const { stdin } = openKeyboard(input as unknown as ReadStream, early, { closed: () => undefined, kitty: () => undefined })
  input.write(bytes.subarray(4))
  await passed()
  let heard = ''
  for (let chunk = stdin.read() as string | null; chunk !== null; chunk = stdin.read() as string | null) heard += chunk
  expect(heard).toBe('読む')
})
