import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { byteLength, MAX_BYTES, MAX_LINES } from '../../src/core/cap.ts'
import { find } from '../../src/tools/find.ts'
import { grep } from '../../src/tools/grep.ts'
import { ls } from '../../src/tools/ls.ts'
import { workspace } from '../support/file-space.ts'

const NASTY = 'a\x1b]52;c;Zm9v\x07b\x1b[2Jc\u202e\n'

describe('ls', () => {
  test('folders come first, with sizes and where links lead', async () => {
    const space = workspace()
    mkdirSync(`${space.folder}/src`)
    space.put('.hidden', 'x'.repeat(2_000))
    symlinkSync('src', `${space.folder}/to-src`)
    symlinkSync('nowhere', `${space.folder}/dangling`)
    execFileSync('mkfifo', [`${space.folder}/pipe`])
    const server = createServer().listen(`${space.folder}/sock`)
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    expect(await space.call(ls, {})).toEqual({ status: 'ok', text: 'src/\n.hidden  2.0 KB\ndangling -> nowhere (missing)\npipe  (named pipe)\nsock  (socket)\nto-src -> src/' })
  })
  test('ten thousand entries are counted, and as many shown as a result holds', async () => {
    const space = workspace()
    for (let index = 0; index < 10_000; index++) writeFileSync(`${space.folder}/f${index}`, '')
    expect((await space.call(ls, {})).text).toMatch(/\n\n\[9500 entries of 10000 left out: raise limit/)
    const most = (await space.call(ls, { limit: 99_999 })).text
    expect(most.split('\n').length).toBeLessThanOrEqual(MAX_LINES)
  })
  test('says what is wrong and what to do', async () => {
    const space = workspace()
    space.put('f', '')
    mkdirSync(`${space.folder}/empty`)
    expect((await space.call(ls, { path: 'empty' })).text).toBe('[The folder is empty.]')
    expect((await space.call(ls, { path: 'f' })).text).toContain('not a folder. Read it with `read`')
    expect((await space.call(ls, { path: 'a/b' })).text).toMatch(/nothing at a\/b\. The folder a does not exist either/)
  })
})

describe('find', () => {
  test('gives paths from the working directory, hidden ones too, ignored ones not', async () => {
    const space = workspace()
    for (const path of ['src/deep', '.github', 'node_modules/p']) mkdirSync(`${space.folder}/${path}`, { recursive: true })
    for (const path of ['src/a.ts', 'src/deep/b.ts', '.github/c.ts', 'node_modules/p/d.ts']) space.put(path, '')
    space.put('.gitignore', 'node_modules/\n')
    expect((await space.call(find, { pattern: '*.ts' })).text).toBe('.github/c.ts\nsrc/a.ts\nsrc/deep/b.ts')
    expect((await space.call(find, { pattern: '*.ts', path: 'src/deep' })).text).toBe('src/deep/b.ts')
    expect((await space.call(find, { pattern: '*.ts', path: 'node_modules/p' })).text).toBe('node_modules/p/d.ts')
    expect((await space.call(find, { pattern: 'deep' })).text).toBe('src/deep/')
    expect((await space.call(find, { pattern: '*.rs' })).text).toBe('[Nothing in . has a name like *.rs]')
  })
  test('says how many were left out', async () => {
    const space = workspace()
    for (let index = 0; index < 20; index++) space.put(`f${index}`, '')
    expect((await space.call(find, { pattern: 'f*', limit: 5 })).text).toMatch(/^f0\nf1\nf10\nf11\nf12\n\n\[15 paths of 20 left out/)
  })
})

describe('grep', () => {
  test('gives each file with its lines and their numbers', async () => {
    const space = workspace()
    mkdirSync(`${space.folder}/src`)
    space.put('src/a.ts', 'one\nfoo(1)\nthree\n')
    space.put('src/b.ts', '\tfoo(2)\r\n')
    space.put('src/c.js', 'foo(3)')
    space.put('bin', Buffer.from('foo(\0'))
    expect((await space.call(grep, { pattern: 'foo\\(', glob: '*.ts' })).text).toBe('src/a.ts\n2: foo(1)\n\nsrc/b.ts\n1: \tfoo(2)')
    expect((await space.call(grep, { pattern: 'FOO', ignoreCase: true, context: 1, path: 'src/a.ts' })).text).toBe('src/a.ts\n1- one\n2: foo(1)\n3- three')
    expect((await space.call(grep, { pattern: 'nope' })).text).toBe('[No line matches in . (4 files searched)]\n\n[1 binary file not searched]'.replace(']\n\n[', ']\n['))
  })
  test.each([
    ['foo(', 'foo(1)', 'plain text'],
    ['(?i)FOO', 'foo', null],
    ['interface\\{\\}', 'interface{}', null],
    ['a{,b', 'a{,b', null],
    ['\\"x\\"', '"x"', null],
    ['[[:digit:]]+x', '12x', null],
    ['caf\u00e9', 'caf\u00e9', null],
  ])('%s finds what was meant', async (pattern, text, note) => {
    const space = workspace()
    space.put('f', `-\n${text}\n`)
    const output = await space.call(grep, { pattern })
    expect(output.text).toContain(`f\n2: ${text}`)
    if (note) expect(output.text).toContain(note)
  })
  test('a pattern over several lines is refused with what to do instead', async () => {
    const space = workspace()
    expect((await space.call(grep, { pattern: 'a\\nb' })).text).toContain('`context`')
    expect((await space.call(grep, { pattern: 'a\nb' })).text).toContain('`context`')
  })
  test('more than a result holds is counted', async () => {
    const space = workspace()
    space.put('f', 'x'.repeat(300).concat('\n').repeat(1_000))
    const { text } = await space.call(grep, { pattern: 'x', limit: 1_000 })
    expect(byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
    expect(text).toMatch(/\n\[\d+ matching lines in 1 file left out/)
    expect((await space.call(grep, { pattern: 'x', limit: 3 })).text).toMatch(/3: x+\n\n\[There are more matching lines than these 3/)
  })
  test('files that may not be read unasked are passed over, and one that is named is searched', async () => {
    const space = workspace({ mayRead: (path) => (path.endsWith('/denied') ? 'deny' : path.endsWith('/.env') ? 'ask' : 'allow') })
    space.put('.env', 'KEY=1\n')
    space.put('a', 'KEY\n')
    space.put('denied', 'KEY\n')
    expect((await space.call(grep, { pattern: 'KEY' })).text).toMatch(/^a\n1: KEY\n\n\[2 files not searched, because/)
    expect((await space.call(grep, { pattern: 'KEY', path: '.env' })).text).toBe('.env\n1: KEY=1')
    // A folder that was approved: all in it but what is denied, and secrets.
    const approved = workspace({ mayRead: (path) => (path.endsWith('/denied') ? 'deny' : 'ask') })
    for (const name of ['.env', 'a', 'denied']) approved.put(name, 'KEY\n')
    expect((await approved.call(grep, { pattern: 'KEY' })).text).toMatch(/^a\n1: KEY\n\n\[2 files/)
  })
  test('T17: control characters are written out, in lines and in names', async () => {
    const space = workspace()
    space.put(NASTY, 'x \x1b[2J \x9b31m \u202e\n')
    const texts = [await space.call(grep, { pattern: 'x' }), await space.call(find, { pattern: '*' }), await space.call(ls, {}), await space.call(find, { pattern: `${NASTY}?` })].map(({ text }) => text)
    expect(texts.join('')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
    expect(texts[0]).toContain('a\\x1b]52;c;Zm9v\\x07b\\x1b[2Jc\\u{202e}\\n\n1: x \\x1b[2J \\x9b31m \\u{202e}')
  })
  test('a search that is cancelled says so', async () => {
    const space = workspace({ signal: AbortSignal.abort() })
    space.put('f', 'x')
    expect((await space.call(grep, { pattern: 'x' })).status).toBe('interrupted')
    expect((await space.call(find, { pattern: 'x' })).status).toBe('interrupted')
  })
})
