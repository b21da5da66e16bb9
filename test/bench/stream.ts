import { table } from './figures.ts'
import { cpuOf, memoryOf, runNode } from './processes.ts'
import type { Space } from './space.ts'
import { openTerminal } from './terminal.ts'
import { quiet } from './typing.ts'

const END = 'THE-END'
/** Paragraphs of made-up words that never repeat, as no passage of a real answer does. */
function words(pieces: number): string {
  let state = 1
  const word = (): string => ((state = (state * 48_271) % 2_147_483_647) % 60_466_176).toString(36).padEnd(5, 'a')
  return `${Array.from({ length: pieces }, (_, index) => `${word()}${index % 60 === 59 ? '\n\n' : ' '}`).join('')}\n\n${END}`
}

/** What an answer in small pieces costs: headless and on the screen. */
export async function streaming(space: Space, pieces: number): Promise<string> {
  const rows: (string | number)[][] = []
  const answer = { text: words(pieces), pieces }
  space.server.reset({ text: 'short' })
  const base = await runNode([space.program, '-p', 'go'], space)
  for (const [name, args] of [['-p', ['-p']], ['--json', ['--json']]] as const) {
    space.server.reset(answer)
    const { cpu, ms, out, code } = await runNode([space.program, ...args, 'go'], space)
    if (code !== 0 || !out.includes(END)) throw new Error(`${name} ended with ${code}: ${out.slice(-500)}`)
    rows.push([`${name}, ${pieces} pieces`, ms - base.ms, ((cpu - base.cpu) * 1_000) / pieces, NaN, NaN])
  }
  const terminal = openTerminal(process.execPath, [space.program], space)
  try {
    await terminal.until('\x1b[?2026h')
    await quiet(terminal)
    for (const [name, count, everyMs] of [['screen, one every 5 ms', 2_000, 5], ['screen, at full speed', pieces, 0]] as const) {
      space.server.reset({ text: words(count), pieces: count, everyMs })
      const before = { cpu: cpuOf(terminal.pid), length: terminal.bytes().length }
      terminal.write('go\r')
      const { arrived } = await space.server.exchange(0, 'begun')
      const shown = (await terminal.until(END, before.length)) + terminal.begun
      const { ended } = await space.server.exchange(0)
      await quiet(terminal)
      rows.push([`${name}, ${count} pieces`, shown - arrived, ((cpuOf(terminal.pid) - before.cpu) * 1_000) / count, shown - ended, memoryOf(terminal.pid, 'peak')])
    }
  } finally {
    await terminal.close()
  }
  return table(['streaming', 'ms', 'CPU us a piece', 'shown after its end, ms', 'peak MB'], rows)
}
