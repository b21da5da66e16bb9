import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

/** Which folders of src a folder may import, beside itself. `cli` sees everything. */
const MAY: Record<string, readonly string[]> = {
  core: [],
  os: [],
  loop: ['core'],
  model: ['core'],
  ui: ['core'],
  report: ['core'],
  session: ['core', 'os'],
  config: ['core', 'os'],
  tools: ['core', 'os'],
  extend: ['core', 'os'],
  faces: ['core', 'loop', 'ui'],
}

const src = new URL('../src/', import.meta.url).pathname
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
const imports = (file: string): string[] => [...readFileSync(join(src, file), 'utf8').matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!)

/** `loop/run.ts imports ui/app.tsx`, for each import that goes where it must not. */
function wrongImports(file: string, from: readonly string[]): string[] {
  const folder = file.split('/')[0]!
  if (folder === 'cli') return []
  return from
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(src, join(src, file, '..', specifier)))
    .filter((target) => {
      const other = target.split('/')[0]!
      return other !== folder && !(MAY[folder] ?? []).includes(other)
    })
    .map((target) => `${file} imports ${target}`)
}

test('every folder imports only the folders below it', () => {
  expect(files.length).toBeGreaterThan(5)
  expect(files.flatMap((file) => wrongImports(file, imports(file)))).toEqual([])
})

test('a sideways import is found', () => {
  expect(wrongImports('loop/run.ts', ['../ui/app.tsx', '../core/record.ts', 'node:fs'])).toEqual(['loop/run.ts imports ui/app.tsx'])
})

test('core is pure: it imports zod and itself only', () => {
  const foreign = files.filter((file) => file.startsWith('core/')).flatMap((file) => imports(file).filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('zod')))
  expect(foreign).toEqual([])
})

test('there are no barrels', () => {
  expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([])
})
