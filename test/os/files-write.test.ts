import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, readFileSync, readdirSync, realpathSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { removeLeftovers, replaceFile } from '../../src/os/atomic-write.ts'
import { exclusively, readWhole, sha256 } from '../../src/os/files.ts'
import { absolute, resolveReal } from '../../src/os/real-path.ts'
import { hash, temporaryFolder } from '../support/file-space.ts'

const isRoot = process.getuid?.() === 0
const signal = new AbortController().signal

describe('replacing a file', () => {
  test('leaves nothing behind, and another file of the same name', async () => {
    const folder = temporaryFolder()
    writeFileSync(`${folder}/f`, 'a')
    const { ino } = statSync(`${folder}/f`)
    expect(await replaceFile(`${folder}/f`, hash(Buffer.from('a')), Buffer.from('b'))).toEqual({ ok: true })
    expect(readdirSync(folder)).toEqual(['f'])
    expect(readFileSync(`${folder}/f`, 'utf8')).toBe('b')
    expect(statSync(`${folder}/f`).ino).not.toBe(ino)
  })
  test('a reader sees the old or the new one whole, never a part', async () => {
    const folder = temporaryFolder()
    const [a, b] = ['a', 'b'].map((char) => Buffer.from(char.repeat(3_000_000))) as [Buffer, Buffer]
    writeFileSync(`${folder}/f`, a)
    const done = new AbortController()
    const reader = (async () => {
      let reads = 0
      for (; !done.signal.aborted; reads++) {
        const got = await readWhole(`${folder}/f`, signal)
        if (got.ok && got.sha256 !== sha256(a) && got.sha256 !== sha256(b)) return -1
      }
      return reads
    })()
    for (let times = 0; times < 10; times++) expect((await replaceFile(`${folder}/f`, sha256(times % 2 ? b : a), times % 2 ? a : b)).ok).toBe(true)
    done.abort()
    expect(await reader).toBeGreaterThan(0)
  })
  test.runIf(isRoot)('keeps owner, group and special bits (only root may give a file away)', async () => {
    const folder = temporaryFolder()
    writeFileSync(`${folder}/f`, 'a')
    chownSync(`${folder}/f`, 1_234, 4_321)
    chmodSync(`${folder}/f`, 0o6751)
    await replaceFile(`${folder}/f`, hash(Buffer.from('a')), Buffer.from('b'))
    const { uid, gid, mode } = statSync(`${folder}/f`)
    expect([uid, gid, mode & 0o7777]).toEqual([1_234, 4_321, 0o6751])
  })
  test.runIf(isRoot)('as somebody who may not give it away, it is written in place and stays theirs', () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o777)
    writeFileSync(`${folder}/f`, 'a')
    chmodSync(`${folder}/f`, 0o666)
    const script = `import { removeLeftovers, replaceFile } from '${new URL('../../src/os/atomic-write.ts', import.meta.url).pathname}'
      process.setgid(65534); process.setuid(65534)
      const before = '${hash(Buffer.from('a'))}'
      console.log(JSON.stringify([await replaceFile('${folder}/f', before, Buffer.from('b')), await replaceFile('${folder}/locked', before, Buffer.from('b'))]))`
    writeFileSync(`${folder}/locked`, 'a')
    chmodSync(`${folder}/locked`, 0o444)
    const [written, refused] = JSON.parse(execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], { encoding: 'utf8' })) as [unknown, unknown]
    expect(written).toEqual({ ok: true, note: 'It was written in place, because its owner could not be kept otherwise.' })
    expect(refused).toEqual({ ok: false, why: 'it may not be written (mode 444): permission denied' })
    expect([statSync(`${folder}/f`).uid, readFileSync(`${folder}/f`, 'utf8'), readFileSync(`${folder}/locked`, 'utf8')]).toEqual([0, 'b', 'a'])
  })
  test.skipIf(isRoot)('a file that may not be written is refused, although its folder would allow it (root may write anything)', async () => {
    const folder = temporaryFolder()
    writeFileSync(`${folder}/f`, 'a')
    chmodSync(`${folder}/f`, 0o444)
    expect(await replaceFile(`${folder}/f`, hash(Buffer.from('a')), Buffer.from('b'))).toMatchObject({ ok: false, why: expect.stringContaining('mode 444') })
  })
  test('all names of a file with hard links show the change, also a shorter one', async () => {
    const folder = temporaryFolder()
    writeFileSync(`${folder}/f`, 'long content')
    linkSync(`${folder}/f`, `${folder}/g`)
    expect(await replaceFile(`${folder}/f`, hash(Buffer.from('long content')), Buffer.from('b'))).toMatchObject({ ok: true, note: expect.stringContaining('1 more name ') })
    expect(readFileSync(`${folder}/g`, 'utf8')).toBe('b')
    expect(statSync(`${folder}/f`).nlink).toBe(2)
  })
  test('a file that changed, went away or became something else is not touched', async () => {
    const folder = temporaryFolder()
    writeFileSync(`${folder}/f`, 'c')
    mkdirSync(`${folder}/d`)
    execFileSync('mkfifo', [`${folder}/p`])
    const a = hash(Buffer.from('a'))
    for (const name of ['f', 'd', 'p', 'gone']) expect((await replaceFile(`${folder}/${name}`, a, Buffer.from('b'))).ok).toBe(false)
    expect(readdirSync(folder).sort()).toEqual(['d', 'f', 'p'])
    expect(readFileSync(`${folder}/f`, 'utf8')).toBe('c')
  })
  test('folders that were made for a file that cannot be written are taken back', async () => {
    const folder = temporaryFolder()
    expect((await replaceFile(`${folder}/a/b/${'n'.repeat(300)}`, null, Buffer.from('x'))).ok).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })
  test('a full disk leaves the file as it was, and says so', { timeout: 20_000 }, ({ skip }) => {
    const folder = temporaryFolder()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
    } catch {
      skip('a file system of its own can only be mounted by root with the right to do so')
    }
    return (async () => {
      try {
        writeFileSync(`${folder}/f`, 'a'.repeat(600_000))
        linkSync(`${folder}/f`, `${folder}/linked`)
        writeFileSync(`${folder}/g`, 'g')
        const large = Buffer.alloc(900_000, 98)
        expect(await replaceFile(`${folder}/g`, hash(Buffer.from('g')), large)).toMatchObject({ ok: false, why: expect.stringContaining('full') })
        expect(await replaceFile(`${folder}/new`, null, large)).toMatchObject({ ok: false, why: expect.stringContaining('full') })
        expect(await replaceFile(`${folder}/f`, hash(Buffer.from('a'.repeat(600_000))), Buffer.alloc(2_000_000, 98))).toMatchObject({ ok: false, why: expect.stringContaining('put back') })
        expect(readFileSync(`${folder}/f`, 'utf8')).toBe('a'.repeat(600_000))
        expect(readFileSync(`${folder}/g`, 'utf8')).toBe('g')
        expect(readdirSync(folder).sort()).toEqual(['f', 'g', 'linked'])
      } finally {
        execFileSync('umount', [folder])
      }
    })()
  })
  test('links swapped in all the time never lead a write out', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    writeFileSync(`${outside}/f`, 'outside')
    mkdirSync(`${folder}/real`)
    writeFileSync(`${folder}/real/f`, 'inside')
    const swapper = spawn('sh', ['-c', 'while :; do mv d e 2>/dev/null; ln -s "$0" d; rm d; mv e d 2>/dev/null; done', outside], { cwd: folder, stdio: 'ignore' })
    mkdirSync(`${folder}/d`)
    try {
      for (let times = 0; times < 150; times++) {
        await replaceFile(`${folder}/d/f`, hash(Buffer.from('outside')), Buffer.from('broken out'))
        await replaceFile(`${folder}/d/new`, null, Buffer.from('broken out'))
      }
    } finally {
      swapper.kill('SIGKILL')
    }
    expect(readdirSync(outside)).toEqual(['f'])
    expect(readFileSync(`${outside}/f`, 'utf8')).toBe('outside')
  })
})

test('work on one path is done one after the other, on two paths side by side', async () => {
  const log: string[] = []
  const slow = (name: string) => async (): Promise<void> => {
    log.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    log.push(`${name} ends`)
  }
  await Promise.allSettled([exclusively('a', slow('1')), exclusively('a', () => Promise.reject(new Error('x'))), exclusively('a', slow('2')), exclusively('b', slow('3'))])
  expect(log.filter((line) => !line.startsWith('3'))).toEqual(['1 begins', '1 ends', '2 begins', '2 ends'])
  expect(log.indexOf('3 begins')).toBeLessThan(log.indexOf('1 ends'))
})

describe('where a path leads', () => {
  test('links are resolved, also those that dangle, and .. is the parent of where a link leads', () => {
    const folder = temporaryFolder()
    mkdirSync(`${folder}/a/b`, { recursive: true })
    symlinkSync('a/b', `${folder}/link`)
    symlinkSync('../nowhere/x', `${folder}/a/dangling`)
    symlinkSync('loop', `${folder}/loop`)
    expect(resolveReal('link/../c', folder)).toBe(`${folder}/a/c`)
    expect(resolveReal('a/dangling', folder)).toBe(`${folder}/nowhere/x`)
    expect(resolveReal('./new//deep/../x/', folder)).toBe(`${folder}/new/x`)
    expect(resolveReal('/../..//etc', folder)).toBe('/etc')
    expect(resolveReal('a\0b', folder)).toBe(`${folder}/a\0b`)
    expect(resolveReal('loop/x', folder)).toMatch(/loop/)
    expect(absolute('~/x', folder)).toBe(`${process.env['HOME']}/x`)
  })
  test('for whatever exists it is what the system says', () => {
    const folder = temporaryFolder()
    for (const path of ['a', 'a/b', 'c']) mkdirSync(`${folder}/${path}`)
    for (const [target, path] of [['a/b', 'l'], ['../c', 'a/up'], [`${folder}/a`, 'abs'], ['l/..', 'c/../m'], ['missing', 'c/none']]) symlinkSync(target!, `${folder}/${path}`)
    const names = ['a', 'b', 'c', 'l', 'up', 'abs', 'm', '..', '.']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }), (parts) => {
        let real: string
        try {
          real = realpathSync.native(`${folder}/${parts.join('/')}`)
        } catch {
          return
        }
        expect(resolveReal(parts.join('/'), folder)).toBe(real)
      }),
      { numRuns: 500 },
    )
  })
})

test('what a write left that was cut off is taken away, and nothing else', async () => {
  const folder = temporaryFolder()
  const [old, young, theirs] = ['.tiller-0123456789ab.tmp', '.tiller-ba9876543210.tmp', '.tiller-notes.tmp'].map((name) => join(folder, name)) as [string, string, string]
  for (const file of [old, young, theirs]) writeFileSync(file, 'x')
  for (const file of [old, theirs]) utimesSync(file, 1_000, 1_000)
  await removeLeftovers(join(folder, 'a.txt'), 2_000_000)
  expect([old, young, theirs].map((file) => existsSync(file))).toEqual([false, true, true])
  await removeLeftovers('/nowhere/at/all', 0)
})
