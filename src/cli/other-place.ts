import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { whyNotWritable } from '../session/store.ts'
import type { FirstPaint } from '../ui/first-paint.ts'
import type { Place } from './place.ts'

/** Where sessions can be kept when the folder itself cannot be written, if the person agrees; null: nowhere, or they do not. */
export async function otherPlace(why: string, { root, home }: Pick<Place, 'root' | 'home'>, painted: FirstPaint | null): Promise<string | null> {
  const folder = join(process.env['XDG_STATE_HOME'] || join(home, '.local', 'state'), 'tiller', 'sessions', `${basename(root) || 'root'}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`)
  if (whyNotWritable(folder)) return null
  const { stdin: input, stdout: output } = process
  if (painted) output.write(`${painted.handOver().erase}\x1b[?2004l\x1b[?25h`)
  input.setRawMode(false)
  const lines = createInterface({ input, output })
  // Closed by Ctrl+C, Ctrl+D or with the terminal, which is no yes.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('n')))
  const answer = await Promise.race([lines.question(`${why}\nKeep them in ${folder}? [Y/n] `).catch(() => 'n'), closed])
  lines.close()
  return /^(y(es)?)?$/i.test(answer.trim()) ? folder : null
}
