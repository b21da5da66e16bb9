import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { edit } from '../../src/tools/edit.ts'
import { write } from '../../src/tools/write.ts'
import { hash, workspace } from '../support/file-space.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('')

describe('a new file', () => {
  test('is made with its folders, to the byte', async () => {
    const space = workspace()
    const content = 'l\u2019ami\r\nno end'
    const output = await space.call(write, { path: 'a/b/q.txt', content })
    expect(output).toMatchObject({ status: 'ok', changes: [{ path: `${space.folder}/a/b/q.txt`, before: null, after: hash(Buffer.from(content)) }], diff: expect.stringContaining('--- /dev/null\n+++ b/a/b/q.txt') })
    expect(space.bytes('a/b/q.txt')).toEqual(Buffer.from(content))
    expect(readdirSync(`${space.folder}/a/b`)).toEqual(['q.txt'])
  })
  test('may be changed at once, without reading what was just written', async () => {
    const space = workspace()
    await space.call(write, { path: 'f', content: 'a\n' })
    expect((await space.call(write, { path: 'f', content: 'b\n' })).status).toBe('ok')
  })
  test('is not put over one that somebody else made in the meantime', async () => {
    const space = workspace()
    const prepared = await space.prepare(write, { path: 'f', content: 'mine' })
    space.put('f', 'theirs')
    expect(await space.run(prepared)).toMatchObject({ status: 'failed', text: expect.stringContaining('somebody else made it') })
    expect(space.text('f')).toBe('theirs')
    expect(readdirSync(space.folder)).toEqual(['f'])
  })
  test('cannot hold half of a surrogate pair', async () => {
    expect((await workspace().call(write, { path: 'f', content: 'a\ud800b' })).text).toContain('surrogate')
  })
  test('has the mode that the umask gives', async () => {
    const umask = process.umask(0o027)
    try {
      const space = workspace()
      await space.call(write, { path: 'f', content: '' })
      expect(execFileSync('stat', ['-c', '%a', `${space.folder}/f`], { encoding: 'utf8' }).trim()).toBe('640')
    } finally {
      process.umask(umask)
    }
  })
})

test('line breaks that are written out are pointed out, where there are no others', async () => {
  const space = workspace()
  expect((await space.call(write, { path: 'a.py', content: 'import os\\nimport sys\\n\\nprint(1)\\n' })).text).toContain('one line with \\n written out')
  expect((await space.call(write, { path: 'b.py', content: 'print("a\\nb\\nc\\nd")\nx = 1\n' })).text).not.toContain('written out')
})

describe('a file that exists', () => {
  test('is not written unseen', async () => {
    const space = workspace()
    space.put('f', 'a\nb\n')
    expect(await space.call(write, { path: 'f', content: 'x' })).toMatchObject({ status: 'failed', text: expect.stringMatching(/2 lines.*not read in this session.*Read it first/) })
    expect(space.text('f')).toBe('a\nb\n')
  })
  test('E32: is not written by who saw a part', async () => {
    const space = workspace()
    space.put('big.txt', numbered(3_000))
    await space.read({ path: 'big.txt', offset: 1, limit: 200 })
    expect(await space.call(write, { path: 'big.txt', content: numbered(200) })).toMatchObject({ status: 'failed', text: expect.stringMatching(/you have seen 200 of 3000 lines.*offset 201/) })
    expect(space.text('big.txt')).toBe(numbered(3_000))
  })
  test('E26: is not written when somebody else changed it; what it is now is shown', async () => {
    const space = workspace()
    space.put('f.txt', 'A\nB\nC\n')
    await space.read('f.txt')
    space.put('f.txt', 'A\nB\nC\nD\n')
    expect(await space.call(write, { path: 'f.txt', content: 'A\nb\nC\n' })).toMatchObject({ status: 'failed', text: expect.stringMatching(/changed since it was read[\s\S]*C\nD/) })
    expect((await space.call(write, { path: 'f.txt', content: 'A\nb\nC\nD\n' })).status).toBe('ok')
  })
  test('keeps CRLF where the content has plain breaks, line by line where it was mixed, and takes a CR as it is', async () => {
    const space = workspace()
    space.put('f', 'a\r\nb\r\n')
    await space.read('f')
    expect((await space.call(write, { path: 'f', content: 'a\nx\ny\n' })).text).toContain('line endings')
    expect(space.text('f')).toBe('a\r\nx\r\ny\r\n')
    space.put('g', 'a\r\nb\nc\r\nd\n')
    await space.read('g')
    await space.call(write, { path: 'g', content: 'a\nb\nC\nd\n' })
    expect(space.text('g')).toBe('a\r\nb\nC\r\nd\n')
    await space.call(write, { path: 'f', content: 'p\r\nq\n' })
    expect(space.text('f')).toBe('p\r\nq\n')
  })
  test('keeps its encoding, or says why it cannot', async () => {
    const space = workspace()
    space.put('l', Buffer.from('caf\xe9\n', 'latin1'))
    await space.read('l')
    expect((await space.call(write, { path: 'l', content: 'thé “x”\n' })).status).toBe('ok')
    expect(space.bytes('l')).toEqual(Buffer.from('th\xe9 \x93x\x94\n', 'latin1'))
    expect((await space.call(write, { path: 'l', content: '日本\n' })).text).toMatch(/windows-1252/)
  })
  test('is not written with placeholders in place of its secrets', async () => {
    const space = workspace()
    space.put('f', 'key = "abc"\n')
    await space.read('f')
    expect(await space.call(write, { path: 'f', content: 'key = "[redacted:api-key]"\nx\n' })).toMatchObject({ status: 'failed', text: expect.stringContaining('placeholder') })
  })
  test('that is empty, or that holds the same, loses nothing', async () => {
    const space = workspace()
    space.put('empty', '')
    expect((await space.call(write, { path: 'empty', content: 'x' })).status).toBe('ok')
    space.put('same', 'x\n')
    expect(await space.call(write, { path: 'same', content: 'x\n' })).toMatchObject({ status: 'ok', text: expect.stringContaining('already') })
  })
  test('that is no file is refused with what it is', async () => {
    const space = workspace()
    mkdirSync(`${space.folder}/d`)
    execFileSync('mkfifo', [`${space.folder}/pipe`])
    space.put('bin', Buffer.from([0, 1, 2]))
    expect((await space.call(write, { path: 'd', content: '' })).text).toContain('a folder')
    expect((await space.call(write, { path: 'x/', content: '' })).text).toContain('names a folder')
    expect((await space.call(write, { path: 'pipe', content: '' })).text).toContain('named pipe')
    expect((await space.call(write, { path: '/dev/null', content: '' })).text).toContain('device')
    expect((await space.call(write, { path: 'bin', content: '' })).text).toContain('binary')
    expect((await space.call(write, { path: 'bin/x', content: '' })).text).toContain('a part of the path is a file')
  })
})

describe('links that lead out', () => {
  test('K9: the access names the real place, of a file that exists and of a new one', async () => {
    const [inside, outside] = [workspace(), workspace()]
    symlinkSync(outside.folder, `${inside.folder}/out`)
    expect(await inside.prepare(write, { path: 'out/new/d', content: '' })).toMatchObject({ accesses: [{ kind: 'write', path: `${outside.folder}/new/d` }] })
    expect(await inside.prepare(write, { path: 'out/../x', content: '' })).toMatchObject({ accesses: [{ kind: 'write', path: `${outside.folder.replace(/\/[^/]+$/, '')}/x` }] })
  })
  test('K11: a dangling link is named by where it leads', async () => {
    const [inside, outside] = [workspace(), workspace()]
    symlinkSync(`${outside.folder}/new`, `${inside.folder}/n`)
    expect(await inside.prepare(write, { path: 'n', content: '' })).toMatchObject({ accesses: [{ kind: 'write', path: `${outside.folder}/new` }] })
  })
  test('K11: a folder that becomes a link while the question is open is not followed', async () => {
    const [inside, outside] = [workspace(), workspace()]
    mkdirSync(`${inside.folder}/d`)
    const prepared = await inside.prepare(write, { path: 'd/x', content: 'mine' })
    execFileSync('rmdir', [`${inside.folder}/d`])
    symlinkSync(outside.folder, `${inside.folder}/d`)
    expect(await inside.run(prepared)).toMatchObject({ status: 'failed', text: expect.stringContaining('leads elsewhere') })
    expect(readdirSync(outside.folder)).toEqual([])
  })
  test('K11: neither is a folder above it, nor the file itself', async () => {
    const [inside, outside] = [workspace(), workspace()]
    mkdirSync(`${inside.folder}/a/b`, { recursive: true })
    mkdirSync(`${outside.folder}/b`)
    const above = await inside.prepare(write, { path: 'a/b/c/x', content: 'mine' })
    execFileSync('mv', [`${inside.folder}/a`, `${inside.folder}/was`])
    symlinkSync(outside.folder, `${inside.folder}/a`)
    expect((await inside.run(above)).status).toBe('failed')
    expect(readdirSync(`${outside.folder}/b`)).toEqual([])
    const itself = await inside.prepare(write, { path: 'n', content: 'mine' })
    symlinkSync(`${outside.folder}/target`, `${inside.folder}/n`)
    expect((await inside.run(itself)).status).toBe('failed')
    expect(existsSync(`${outside.folder}/target`)).toBe(false)
    expect(readlinkSync(`${inside.folder}/n`)).toBe(`${outside.folder}/target`)
  })
})

test('what is cancelled before it begins writes nothing', async () => {
  const space = workspace()
  const prepared = await space.prepare(write, { path: 'f', content: 'x' })
  space.here.signal = AbortSignal.abort()
  expect((await space.run(prepared)).status).toBe('interrupted')
  expect(readdirSync(space.folder)).toEqual([])
})

test('a diff of two large unrelated files does not take for ever', { timeout: 20_000 }, async () => {
  const space = workspace()
  space.put('f', Array.from({ length: 60_000 }, (_, index) => `a${index * 7}\n`).join(''))
  const before = space.bytes('f')
  space.seen.set(`${space.folder}/f`, { path: `${space.folder}/f`, sha256: hash(before), whole: true })
  const output = await space.call(write, { path: 'f', content: Array.from({ length: 60_000 }, (_, index) => `b${index * 3}\n`).join('') })
  expect(output.status).toBe('ok')
  expect(output.diff).toContain('rewritten: 60000 lines before, 60000 after')
  expect(readFileSync(`${space.folder}/f`, 'utf8').startsWith('b0\n')).toBe(true)
})

test('what a change replaces and what it writes are handed over to be kept, byte for byte; a refused one hands over nothing', async () => {
  const kept: string[] = []
  const at = workspace({ keep: (bytes) => void kept.push(Buffer.from(bytes).toString('latin1')) })
  at.put('old.txt', Buffer.from('caf\xe9\r\n', 'latin1'))
  await at.call(write, { path: 'old.txt', content: 'unread' })
  expect(kept).toEqual([])
  await at.read('old.txt')
  await at.call(edit, { path: 'old.txt', edits: [{ old: 'caf', new: 'Caf' }] })
  await at.call(write, { path: 'new.txt', content: 'n\n' })
  expect(kept).toEqual(['caf\xe9\r\n', 'Caf\xe9\r\n', 'n\n'])
})
