import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { rgPath as ripgrep } from '@vscode/ripgrep' // so that both ways are always compared
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coarsePattern } from '../../src/core/coarse-pattern.ts'
import { compilePattern } from '../../src/core/pattern.ts'
import { matchLines, type FileRows } from '../../src/os/match-lines.ts'
import { candidates, findRipgrep } from '../../src/os/ripgrep.ts'
import { listFiles, searchLines, type Found } from '../../src/os/search.ts'
import { walk } from '../../src/os/walk.ts'
import { temporaryFolder } from '../support/file-space.ts'

const signal = new AbortController().signal
/** Each one starts programs. More with FILES_RUNS. */
const runs = Number(process.env['FILES_RUNS'] ?? 40)
function put(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}
const git = (cwd: string, ...argv: string[]): string => execFileSync('git', argv, { cwd, encoding: 'utf8', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' } })

describe('walking', () => {
  test('what git would not ignore is found, for whatever is in the ignore files', { timeout: 120_000 }, () => {
    const name = fc.constantFrom('a', 'b', 'build', 'x.log', 'y.ts', '.hidden', 'a b', '#c', '!d')
    const parents = fc.array(fc.constantFrom('a', 'b', 'build', 'a b'), { maxLength: 3 })
    const path = fc.tuple(parents, name).map(([parts, last]) => [...parts, last].join('/'))
    const pattern = fc.oneof(
      name, path, name.map((each) => `/${each}`), name.map((each) => `${each}/`), path.map((each) => `!${each}`), name.map((each) => `!${each}`),
      fc.constantFrom('*', '*.log', '**/a', 'a/**', 'a/*', '!*/', '/*', '**/build/', 'a/**/b', '*.t?', '[ab]', '[!a]', '\\#c', '\\!d', 'a b', '# comment', '', 'x.log ', '!/a/b', '*/b'),
    )
    const rules = fc.array(pattern, { maxLength: 5 }).map((lines) => `${lines.join('\n')}\n`)
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 10, maxLength: 40 }), fc.array(fc.record({ at: parents.map((parts) => parts.join('/')), rules }), { maxLength: 4 }), rules, (paths, ignores, exclude) => {
        const folder = temporaryFolder()
        git(folder, 'init', '-q')
        writeFileSync(`${folder}/.git/info/exclude`, exclude)
        const tried: string[] = []
        for (const each of [...paths, ...ignores.map(({ at }) => join(at, '.gitignore'))]) {
          try {
            put(folder, { [each]: ignores.find(({ at }) => join(at, '.gitignore') === each)?.rules ?? 'x' })
            tried.push(each)
          } catch {
            // A name that is a folder in another path.
          }
        }
        const told = git(folder, 'ls-files', '-z', '--others', '--exclude-standard').split('\0').filter((each) => each !== '').sort()
        expect(walk({ start: folder, root: folder }).paths, JSON.stringify({ ignores, exclude, tried })).toEqual(told)
        // A folder that is not ignored, walked by itself, has what it had as a part.
        for (const within of new Set(told.map((each) => each.split('/')[0]!).filter((each) => !told.includes(each)))) {
          expect(walk({ start: join(folder, within), root: folder }).paths).toEqual(told.filter((each) => each.startsWith(`${within}/`)).map((each) => each.slice(within.length + 1)))
        }
      }),
      { numRuns: runs },
    )
  })
  test('globs: a name at any depth, a path from the start, folders, the other way round', () => {
    const folder = temporaryFolder()
    put(folder, { 'a.ts': '', 'src/b.ts': '', 'src/deep/c.ts': '', 'src/deep/d.js': '', '.github/w.yml': '', '.git/config': '' })
    const found = (glob: string, folders = false): string[] => walk({ start: folder, root: folder, glob, folders }).paths
    expect(found('*.ts')).toEqual(['a.ts', 'src/b.ts', 'src/deep/c.ts'])
    expect(found('src/*.ts')).toEqual(['src/b.ts'])
    expect(found('./src/**/*.{ts,js}')).toEqual(['src/b.ts', 'src/deep/c.ts', 'src/deep/d.js'])
    expect(found(`${folder}/src/*.ts`)).toEqual(['src/b.ts'])
    expect(found('!*.ts')).toEqual(['.github/w.yml', 'src/deep/d.js'])
    expect(found('**')).toHaveLength(5)
    expect(found('deep', true)).toEqual(['src/deep/'])
    expect(found('s*/', true)).toEqual(['src/'])
    expect(found('config')).toEqual([])
  })
  test('an ignored folder that is asked for by name is walked', () => {
    const folder = temporaryFolder()
    put(folder, { '.gitignore': 'node_modules\n', 'node_modules/p/index.js': '', 'node_modules/p/.gitignore': 'dist\n', 'node_modules/p/dist/x': '' })
    expect(walk({ start: folder, root: folder }).paths).toEqual(['.gitignore'])
    expect(walk({ start: `${folder}/node_modules/p`, root: folder }).paths).toEqual(['.gitignore', 'index.js'])
  })
  test('links are named but not followed, pipes are neither', () => {
    const folder = temporaryFolder()
    put(folder, { 'd/f': '' })
    symlinkSync('.', `${folder}/d/loop`)
    symlinkSync('f', `${folder}/d/link`)
    execFileSync('mkfifo', [`${folder}/d/pipe`, `${folder}/.gitignore`])
    expect(walk({ start: folder, root: folder }).paths).toEqual(['d/f', 'd/link', 'd/loop'])
    expect(walk({ start: folder, root: folder, regular: true }).paths).toEqual(['d/f'])
  })
  test('a repository in a repository has its own rules only, and a worktree those of all', () => {
    const folder = temporaryFolder()
    git(folder, 'init', '-q')
    put(folder, { '.gitignore': 'x\n', 'x': '', 'inner/x': '', 'inner/y': '' })
    git(`${folder}/inner`, 'init', '-q')
    expect(walk({ start: folder, root: folder }).paths).toEqual(['.gitignore', 'inner/x', 'inner/y'])
    git(folder, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'x', '--allow-empty')
    writeFileSync(`${folder}/.git/info/exclude`, 'z\n')
    git(folder, 'worktree', 'add', '-q', 'tree')
    put(folder, { 'tree/z': '', 'tree/y': '' })
    expect(walk({ start: `${folder}/tree`, root: `${folder}/tree` }).paths).toEqual(['y'])
  })
})

type Way = { program: string; pattern: string; from: number } | undefined
async function both(folder: string, written: string, options: { ignoreCase?: boolean; context?: number; limit?: number } = {}): Promise<Found> {
  const compiled = compilePattern(written, options.ignoreCase ?? false)
  if (!compiled.ok) throw new Error(compiled.why)
  const coarse = coarsePattern(compiled.pattern)
  const one = (way: Way) => searchLines({ within: { start: folder, root: folder }, ...compiled.pattern, context: options.context ?? 0, limit: options.limit ?? 100, ripgrep: way }, signal)
  const [without, withIt] = await Promise.all([one(undefined), coarse === null ? one(undefined) : one({ program: ripgrep, pattern: coarse, from: 0 })])
  if ('ended' in without || 'ended' in withIt) throw new Error(JSON.stringify([without, withIt]))
  // What ripgrep passes over is not opened, so it is not known to be binary.
  expect({ ...withIt, binary: 0 }).toEqual({ ...without, binary: 0 })
  return without
}
const shown = ({ files }: Found, folder: string): string[] => files.flatMap(({ path, rows }) => rows.map(({ number, text, match }) => `${path.slice(folder.length + 1)}:${number}${match ? ':' : '-'}${text}`))

describe('searching, with ripgrep and without', () => {
  test('gives the same lines for any files and any pattern', { timeout: 240_000 }, async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'k', 'K', 's', '1', '_', ' ', '\t', '(', '{', '.', '\\', 'é', 'ß', 'ſ', '日', '😀', '\u2028', '\r', '\n', '\n'), maxLength: 60 })
    const content = fc.oneof(
      text.map((each) => Buffer.from(each)), text.map((each) => Buffer.from(each.replace(/\n/g, '\r\n'))), text.map((each) => Buffer.from(`\ufeff${each}`)), text.map((each) => Buffer.from(`\ufeff${each}`, 'utf16le')), text.map((each) => Buffer.from(`\ufeff${each}`, 'utf16le').swap16()),
      text.map((each) => Buffer.from(each, 'latin1')), text.map((each) => Buffer.from(`${each}\0`)), fc.uint8Array({ maxLength: 40 }),
    )
    const atom = fc.constantFrom('a', 'b', 'A', 'k', 's', '1', '_', ' ', '\\t', '\\(', '\\{', '\\.', '\\\\', 'é', 'ß', 'ſ', '日', '😀', '.', '\\w', '\\W', '\\d', '\\D', '\\s', '\\S', '[ab]', '[^a]', '[a-zé]', '[\\w-]', '\\u00e9', '\\xe9', '\\p{L}', '^', '$', '\\b', '\\B', '(?=a)', '(?<!b)', '[[:alpha:]]')
    const repeated = fc.tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?')).map((parts) => parts.join(''))
    const sequence = fc.array(repeated, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
    const pattern = fc.oneof(sequence, fc.tuple(sequence, sequence).map(([a, b]) => `(?:${a}|${b})${a}`), fc.tuple(sequence, sequence).map(([a, b]) => `(${a})${b}\\1`), fc.string({ unit: fc.constantFrom('a', '(', ')', '[', ']', '*', '{', '}', '1', '\\', '|', '?', '^'), minLength: 1, maxLength: 6 }))
    let matches = 0
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 8 }), fc.array(pattern, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.nat(2), async (contents, patterns, ignoreCase, context) => {
        const folder = temporaryFolder()
        put(folder, Object.fromEntries(contents.map((each, index) => [`f${index}`, each])))
        const paths = contents.map((_, index) => `${folder}/f${index}`)
        for (const each of patterns) {
          const compiled = compilePattern(each, ignoreCase)
          const coarse = compiled.ok ? coarsePattern(compiled.pattern) : null
          if (!compiled.ok || coarse === null) continue
          const chosen = await candidates(ripgrep, coarse, paths, signal)
          expect(chosen, coarse).not.toBeNull()
          const [all, some] = [paths, chosen!].map((tried) => {
            const files: FileRows[] = []
            matchLines(tried, { ...compiled.pattern, context, limit: 100 }, (rows) => files.push(rows), () => {})
            return files
          })
          expect(some, `${each} as ${coarse}`).toEqual(all)
          matches += all!.length
        }
      }),
      { numRuns: runs },
    )
    expect(matches).toBeGreaterThan(runs / 2)
  })
  test('shows matches and the lines around them', async () => {
    const folder = temporaryFolder()
    put(folder, { f: '1\n2 x\n3\n4\n5\n6 x\n7 x\n8\n', g: 'x' })
    expect(shown(await both(folder, 'x', { context: 1 }), folder)).toEqual(['f:1-1', 'f:2:2 x', 'f:3-3', 'f:5-5', 'f:6:6 x', 'f:7:7 x', 'f:8-8', 'g:1:x'])
  })
  test('stops when there are enough, and says that there is more', async () => {
    const folder = temporaryFolder()
    put(folder, { a: 'x\n'.repeat(5), b: 'x\n' })
    expect(await both(folder, 'x', { limit: 5 })).toMatchObject({ more: true })
    expect(await both(folder, 'x', { limit: 6 })).toMatchObject({ more: false })
  })
  test('finds what is behind a piece, and in a line that is longer than one', async () => {
    const folder = temporaryFolder()
    put(folder, { long: `${'é'.repeat(5_000_000)}needle\nsecond needle\n`, many: `${'0123456789\n'.repeat(900_000)}needle` })
    expect(shown(await both(folder, 'needle$'), folder).map((each) => each.replace(/…?é+/, '…'))).toEqual(['long:1:…needle', 'long:2:second needle', 'many:900001:needle'])
  })
  test('a long line is shown around the match', async () => {
    const folder = temporaryFolder()
    put(folder, { f: `${'a'.repeat(5_000)}needle${'b'.repeat(5_000)}` })
    const [line] = shown(await both(folder, 'needle'), folder)
    expect(line).toMatch(/^f:1:…a{100}needleb+…$/)
    expect(line!.length).toBeLessThan(420)
  })
  test('never waits for a pipe, and passes over what may not be read', async () => {
    const folder = temporaryFolder()
    put(folder, { f: 'x\n' })
    execFileSync('mkfifo', [`${folder}/pipe`])
    symlinkSync('/dev/zero', `${folder}/zero`)
    symlinkSync('f', `${folder}/link`)
    expect(shown(await both(folder, 'x'), folder)).toEqual(['f:1:x'])
    const named = await searchLines({ within: { files: [`${folder}/pipe`, `${folder}/gone`, `${folder}/link`] }, source: 'x', flags: 'u', context: 0, limit: 9 }, signal)
    expect(named).toMatchObject({ unreadable: 3, files: [] })
  })
  test('names that look like options, and names of many kinds, are files', async () => {
    const folder = temporaryFolder()
    put(folder, { '--pre=touch pwned': 'x', '-e': 'x', 'a\nb': 'x', 'é 日': 'x' })
    expect((await both(folder, 'x')).files.map(({ path }) => path.slice(folder.length + 1))).toEqual(['--pre=touch pwned', '-e', 'a\nb', 'é 日'])
  })
})

describe('a pattern that never ends', () => {
  test('is ended, with what was found by then', async () => {
    const folder = temporaryFolder()
    put(folder, { a: 'aaa\n', b: `${'a'.repeat(40)}!\n` })
    const begun = performance.now()
    const ended = await searchLines({ within: { start: folder, root: folder }, source: '^(a+)+$', flags: 'u', context: 0, limit: 9, stallMs: 400 }, signal)
    expect(ended).toMatchObject({ ended: 'stalled', path: `${folder}/b`, rows: [{ path: `${folder}/a` }] })
    expect(performance.now() - begun).toBeLessThan(20_000)
  })
  test('is ended by the signal', async () => {
    const folder = temporaryFolder()
    put(folder, { b: `${'a'.repeat(40)}!\n` })
    const controller = new AbortController()
    const search = searchLines({ within: { start: folder, root: folder }, source: '^(a+)+$', flags: 'u', context: 0, limit: 9, stallMs: 60_000 }, controller.signal)
    setImmediate(() => controller.abort())
    expect(await search).toEqual({ ended: 'cancelled' })
    expect(await listFiles({ start: folder, root: folder }, controller.signal)).toEqual({ ended: 'cancelled' })
  })
})

test('ten thousand files in a folder are walked and searched', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder()
  for (let index = 0; index < 10_000; index++) writeFileSync(`${folder}/file-${index}.txt`, index % 1_000 === 0 ? 'needle\n' : 'hay\n')
  expect(await listFiles({ start: folder, root: folder }, signal)).toMatchObject({ cut: false, paths: { length: 10_000 } })
  expect(shown(await both(folder, 'needle'), folder)).toHaveLength(10)
})

test('ripgrep is never taken from the folder that is worked on', () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()]
  put(folder, { 'node_modules/.bin/rg': '#!/bin/sh\ntouch pwned\n' })
  chmodSync(`${folder}/node_modules/.bin/rg`, 0o755)
  symlinkSync(`${folder}/node_modules/.bin/rg`, `${elsewhere}/rg`)
  expect(findRipgrep(folder, `${folder}/node_modules/.bin:.:${elsewhere}`)).toBeNull()
  expect(findRipgrep(folder, `.:${dirname(ripgrep)}`)).toBe(ripgrep)
})
