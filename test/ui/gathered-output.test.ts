import type { WriteStream } from 'node:tty'
import { expect, test } from 'vitest'
import { gatheredOutput } from '../../src/ui/gathered-output.ts'

function terminal(): { stream: WriteStream; writes: string[] } {
  const writes: string[] = []
  const stream = { columns: 80, writableNeedDrain: false, write: (text: string, done?: () => void) => (writes.push(text), done?.(), true) } as unknown as WriteStream
  return { stream, writes }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test('what is written in one turn goes out as one, and who waits for it is told', async () => {
  const { stream, writes } = terminal()
  const { stdout } = gatheredOutput(stream)
  const told = new Promise<void>((resolve) => stdout.write('a', () => resolve()))
  stdout.write('b')
  expect(writes).toEqual([])
  await told
  expect(writes).toEqual(['ab'])
  expect(stdout.columns).toBe(80)
})

test('held writes wait for all who hold, and the way out waits for nobody', async () => {
  const { stream, writes } = terminal()
  const { stdout, hold, flush } = gatheredOutput(stream)
  const [one, other] = [hold(), hold()]
  stdout.write('erased ')
  await turn()
  one()
  one()
  await turn()
  expect(writes).toEqual([])
  stdout.write('drawn')
  other()
  expect(writes).toEqual(['erased drawn'])
  hold()
  stdout.write('the end')
  flush()
  expect(writes.at(-1)).toBe('the end')
})

test('the way to the top of a frame is counted from the cursor, not from a bottom that may be gone', () => {
  const { stream, writes } = terminal()
  const { stdout, flush } = gatheredOutput(stream)
  stdout.write('\x1b[2B\x1b[1G\x1b[5Ax \x1b[2B\x1b[1G\x1b[2Ay \x1b[3B\x1b[1Gz')
  flush()
  expect(writes).toEqual(['\x1b[1G\x1b[3Ax \x1b[1Gy \x1b[3B\x1b[1Gz'])
})
