import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The text in the person's own editor; undefined: it failed or nothing was saved. */
export async function editText(text: string): Promise<string | undefined> {
  const { execa } = await import('execa')
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'tiller-edit-'))
  const file = join(folder, 'prompt.md')
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The variable may hold arguments (`code --wait`), so a shell takes it apart.
    const { failed } = await execa('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', reject: false })
    if (failed) throw new Error(`The editor "${editor}" failed. Set VISUAL or EDITOR to one that works.`)
    return readFileSync(file, 'utf8').replace(/\n$/, '')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
