import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const dist = new URL('../../dist/', import.meta.url).pathname
const source = (file: string): string => readFileSync(join(dist, file), 'utf8')

/** The files that are loaded with this one, itself included. */
function closure(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  for (const match of source(file).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) closure(match[1]!, found)
  return found
}

const wayIn = (name: string): string => readdirSync(dist).find((file) => file.startsWith(`${name}-`))!
const sizeOf = (files: Iterable<string>): number => [...files].reduce((sum, file) => sum + statSync(join(dist, file)).size, 0)

test('the first frame is painted by one small file', () => {
  expect([...closure('main.js')]).toEqual(['main.js'])
  expect(sizeOf(['main.js'])).toBeLessThan(20_000)
})

test('a start loads few files, none of what is only needed on demand, and no built-in module by `import`', () => {
  for (const [name, most, bytes] of [['interactive', 10, 1_300_000], ['start-headless', 8, 800_000]] as const) {
    const files = new Set([...closure('launch.js'), ...closure(wayIn(name))])
    expect(files.size, [...files].join(' ')).toBeLessThanOrEqual(most)
    expect(sizeOf(files), name).toBeLessThan(bytes)
    for (const file of files) expect(source(file).replace(/^import\{createRequire[^;]*;/, ''), file).not.toMatch(/from\s*"node:/)
  }
})
