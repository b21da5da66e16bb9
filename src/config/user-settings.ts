import { existsSync, readFileSync } from 'node:fs'
import type { JSONPath } from 'jsonc-parser'
import type { Rule } from '../core/record.ts'
import { userFile, type Places } from './places.ts'
import { writePrivate } from './private-file.ts'
import { readLayer } from './read-file.ts'
import { checkLayer } from './schema.ts'
import type { Saved } from './trust.ts'

/** Sets one key of the person's own file, keeping its comments. A file that is not valid is left as it is. The file is 0600 afterwards. */
export async function setUserKey(path: JSONPath, value: unknown, places: Places): Promise<Saved> {
  return await edit(places, () => [{ path, value }])
}

/** "Always, everywhere": rules that hold for this person from now on. */
export async function addUserRules(rules: readonly Rule[], places: Places): Promise<Saved> {
  return await edit(places, (before) => {
    const had = new Set((before.rules ?? []).map((entry) => JSON.stringify(entry)))
    const fresh = rules.map(({ verdict, kind, match }) => ({ [verdict]: kind, match })).filter((entry) => !had.has(JSON.stringify(entry)))
    return fresh.map((entry, index) => (before.rules || index > 0 ? { path: ['rules', -1], value: entry, insert: true } : { path: ['rules'], value: [entry] }))
  })
}

type Change = { path: JSONPath; value: unknown; insert?: boolean }
type Before = { rules?: unknown[] }

async function edit(places: Places, changes: (before: Before) => Change[]): Promise<Saved> {
  const { applyEdits, modify, parse } = await import('jsonc-parser')
  const file = userFile(places)
  const valid = await readLayer(file)
  if (valid?.ok === false) return { ok: false, why: valid.errors.join('\n') }
  const now = existsSync(file) ? readFileSync(file, 'utf8') : ''
  let text = now.trim() === '' ? '{}\n' : now
  for (const { path, value, insert } of changes(valid?.layer ?? {})) {
    text = applyEdits(text, modify(text, path, value, { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' }, isArrayInsertion: insert === true }))
  }
  const checked = checkLayer(parse(text, [], { allowTrailingComma: true }))
  if (!checked.ok) return { ok: false, why: checked.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n') }
  try {
    writePrivate(file, text)
    return { ok: true, file }
  } catch (error) {
    return { ok: false, why: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}` }
  }
}
