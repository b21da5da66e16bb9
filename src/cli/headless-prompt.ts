import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { imageKind } from '../os/image.ts'
import { UsageError } from './options.ts'

const QUIET_MS = 2_000
const MOST = 10 * 1024 * 1024

export interface HeadlessPrompt {
  text: string
  /** Files named `@file` that are images. */
  images: { name: string; bytes: Buffer }[]
}

/** The words of the command line, the files named `@file` without the secrets in them, and what is piped in; null: nothing of it. */
export async function headlessPrompt(words: readonly string[], cwd: string, stdin: (Readable & { isTTY?: boolean }) | null, warn: (text: string) => void, redact = (text: string): string => text): Promise<HeadlessPrompt | null> {
  const files = words.filter((word) => isFileArgument(word, cwd))
  const prompt = words.filter((word) => !files.includes(word)).join(' ')
  const read = files.map((word) => ({ name: word.slice(1), bytes: readFileSync(resolve(cwd, word.slice(1))) }))
  const images = read.filter(({ bytes }) => imageKind(bytes))
  const parts = read.map((file) => (images.includes(file) ? `[image: ${file.name}]` : quote(file.name, redact(file.bytes.toString('utf8')))))
  const piped = stdin && !stdin.isTTY ? withoutLastNewline(await readAll(stdin, warn)) : ''
  if (!isBlank(piped)) parts.push(isBlank(prompt) && parts.length === 0 ? piped : quote('stdin', piped))
  const all = [prompt, ...parts].filter((part) => !isBlank(part)).join('\n\n')
  return isBlank(all) ? null : { text: all, images }
}

/** One word that is a file's name. A folder is only mentioned; a file that is not there would leave the prompt without its half. */
function isFileArgument(word: string, cwd: string): boolean {
  if (!/^@[^\s]+$/.test(word)) return false
  const file = resolve(cwd, word.slice(1))
  if (!existsSync(file)) throw new UsageError(`${word}: there is no file ${file} (where no file is meant, put the whole prompt in quotes)`)
  return statSync(file).isFile()
}

const isBlank = (text: string): boolean => text.trim() === ''
const withoutLastNewline = (text: string): string => text.replace(/\r?\n$/, '')
const quote = (name: string, text: string): string => `<file name="${name.replaceAll('"', '&quot;')}">\n${withoutLastNewline(text)}\n</file>`

/** To its end. A program that waits for ever for a writer that never comes must say so. */
async function readAll(stdin: Readable, warn: (text: string) => void): Promise<string> {
  let timer: NodeJS.Timeout | undefined = setTimeout(() => warn('tiller is waiting for the end of its standard input; close it with < /dev/null where there is none.\n'), QUIET_MS)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer)
      timer = undefined
      chunks.push(Buffer.from(chunk as Uint8Array))
      size += chunks.at(-1)?.length ?? 0
      if (size > MOST) throw new Error(`more than ${MOST / 1024 / 1024} MB on standard input: write it to a file and name the file in the prompt`)
    }
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
