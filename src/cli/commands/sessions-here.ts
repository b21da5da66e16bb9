import type { Place } from '../place.ts'

/** What an operation on sessions is given. */
export interface Here {
  place: Place
  /** Of this root's sessions, and after it those of the repository's other work trees: what is listed can also be named. */
  folders: readonly [string, ...string[]]
  /** Keys and tokens that are set here. */
  secrets: readonly string[]
  flags: Record<string, unknown>
  rest: readonly string[]
}

export const print = (text: string): void => void process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)

export const note = (text: string): void => void process.stderr.write(`tiller: ${text}\n`)
