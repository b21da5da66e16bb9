import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync, openSync, writeSync, closeSync } from 'node:fs'
import { createServer } from 'node:net'
import { PNG } from 'pngjs'
import jpeg from 'jpeg-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { byteLength, MAX_BYTES, MAX_LINES } from '../../src/core/cap.ts'
import { edit } from '../../src/tools/edit.ts'
import { write } from '../../src/tools/write.ts'
import { hash, workspace } from '../support/file-space.ts'

const png = (width: number, height: number, noise = false): Buffer => {
  const image = new PNG({ width, height })
  let state = 1
  for (let at = 0; at < image.data.length; at++) image.data[at] = at % 4 === 3 ? 255 : noise ? (state = (state * 48_271) % 2_147_483_647) & 255 : 200
  return PNG.sync.write(image)
}
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('')

describe('text', () => {
  test('is given as it is, so that it can be copied, and counts as seen', async () => {
    const space = workspace()
    const path = space.put('a.ts', 'one\n\ttwo\n\nfour\n')
    expect(await space.read('a.ts')).toEqual({ status: 'ok', text: 'one\n\ttwo\n\nfour', seen: [{ path, sha256: hash(space.bytes('a.ts')), whole: true, lines: { from: 1, to: 4, of: 4 } }] })
  })
  test('has line numbers on request', async () => {
    const space = workspace()
    space.put('a.ts', 'one\ntwo\n')
    expect((await space.read({ path: 'a.ts', offset: 2, numbers: true })).text).toBe('2\ttwo\n\n[Lines 2-2 of 2, to the end]')
  })
  test('what the text does not show is said below it', async () => {
    const space = workspace()
    space.put('a', Buffer.from('\ufeffa\r\nb', 'utf8'))
    expect((await space.read('a')).text).toBe('a\nb\n\n[UTF-8 with a byte order mark]\n[Lines end in CRLF; `edit` keeps that, send plain line breaks]\n[No line break at the end]')
    space.put('b', Buffer.from('caf\xe9 \x93x\x94\n', 'latin1'))
    expect((await space.read('b')).text).toBe('café “x”\n\n[Not UTF-8: shown as Windows-1252, and written back so]')
    space.put('c', '')
    expect((await space.read('c')).text).toBe('[The file is empty.]')
  })
  test('comes in pages, and all pages together are the whole', async () => {
    const space = workspace()
    const path = space.put('big.txt', numbered(3_000))
    const first = await space.read('big.txt')
    const next = /Go on with offset (\d+)/.exec(first.text)?.[1]
    expect(first.text).toMatch(/\n\n\[Lines 1-1990 of 3000\. Go on with offset 1991\]$/)
    expect(space.seen.get(path)).toMatchObject({ whole: false, lines: { from: 1, to: 1_990, of: 3_000 } })
    expect((await space.read({ path: 'big.txt', offset: Number(next) })).text).toMatch(/^1991\n[\s\S]*3000\n\n\[Lines 1991-3000 of 3000, to the end\]$/)
    expect(space.seen.get(path)).toMatchObject({ whole: true })
  })
  test('an offset counts from the end where it is negative, and one behind the end is answered with what there is', async () => {
    const space = workspace()
    space.put('f', numbered(10))
    expect((await space.read({ path: 'f', offset: -2 })).text).toMatch(/^9\n10\n/)
    expect(await space.read({ path: 'f', offset: 11 })).toMatchObject({ status: 'failed', text: expect.stringContaining('10 lines') })
  })
  test('E29: a line longer than a result is read to its end by following the remarks', async () => {
    const space = workspace()
    const line = `[${Array.from({ length: 30_000 }, (_, index) => index).join(',')}]`
    space.put('one.json', line)
    let got = ''
    let page = { path: 'one.json', offset: 1, column: 1 }
    for (let calls = 0; ; calls++) {
      const { text } = await space.read(page)
      expect(byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
      got += text.replace(/^…/, '').replace(/(?:…\[line|\n\n\[)[\s\S]*$/, '')
      const next = /offset (\d+), column (\d+)/.exec(text)
      if (!next) break
      expect(Number(next[2])).toBeGreaterThan(page.column)
      page = { path: 'one.json', offset: Number(next[1]), column: Number(next[2]) }
      expect(calls).toBeLessThan(10)
    }
    expect(got).toBe(line)
  })
  test('E31: a line that was cut is marked with its length, and what was shown of it can be edited', async () => {
    const space = workspace()
    const path = space.put('long.txt', `k=${'7'.repeat(30_000)}\nshort\n`)
    const { text } = await space.read('long.txt')
    expect(text).toMatch(/7…\[line 1 is cut here: it has 30002 characters; to go on in it: offset 1, column 5001\]\nshort/)
    expect(space.seen.get(path)?.whole).toBe(false)
    expect((await space.call(edit, { path: 'long.txt', edits: [{ old: 'k=', new: 'key=' }] })).status).toBe('ok')
  })
  test('a short file is shown whole, however long its lines, so that it can be written anew', async () => {
    const space = workspace()
    const path = space.put('one.svg', `<path d="${'M1,1 '.repeat(3_000)}"/>`)
    expect((await space.read('one.svg')).text).not.toContain('is cut here')
    expect(space.seen.get(path)?.whole).toBe(true)
    expect((await space.call(write, { path: 'one.svg', content: '<svg/>' })).status).toBe('ok')
  })
  test('bytes that are not UTF-8 are written out and named, and do not hide what is', async () => {
    const space = workspace()
    space.put('f', Buffer.concat([Buffer.from('日本 é\n'), Buffer.from([0xff, 0xe6, 0x0a])]))
    expect((await space.read('f')).text).toBe('日本 é\n\\xff\\xe6\n\n[2 bytes that are not UTF-8, shown as \\xNN; `edit` keeps what you do not touch]')
  })
  test('where nothing follows, nothing is promised', async () => {
    const space = workspace()
    space.put('f', 'ab')
    expect((await space.read({ path: 'f', column: 9 })).text).toMatch(/nothing at column 9\. That is the end of the file\./)
  })
  test('no result is larger than it may be, whatever the file', async () => {
    const space = workspace()
    for (const [index, content] of ['é'.repeat(200_000), 'x\n'.repeat(100_000), `${'日'.repeat(900)}\n`.repeat(300), '\x1b\x1b\x1b\n'.repeat(9_000), '😀'.repeat(60_000), '\r'.repeat(5_000)].entries()) {
      space.put(`f${index}`, content)
      const { text } = await space.read(`f${index}`)
      expect(byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
      expect(text.split('\n').length).toBeLessThanOrEqual(MAX_LINES)
      expect(text.isWellFormed()).toBe(true)
    }
  })
  test('T17: control sequences are written out, in a file and in a name', async () => {
    const space = workspace()
    const name = 'a\x1b]52;c;Zm9v\x07b\x1b[2Jc\n'
    space.put(name, 'x\x1b]8;;http://e\x1b\\y\x1bPq\x1b\\ \x1b[?1049h \x9b31m \u202e end\rprogress\n')
    const { text } = await space.read(name)
    expect(text).toBe('x\\x1b]8;;http://e\\x1b\\y\\x1bPq\\x1b\\ \\x1b[?1049h \\x9b31m \\u{202e} end\\x0dprogress')
    expect(text + (await space.read('.')).text + (await space.read(`${name}?`)).text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
  })
  test('L12: a file too large to be taken into memory is read by the page', { timeout: 60_000 }, async () => {
    const space = workspace()
    const path = space.put('huge.log', '')
    const file = openSync(path, 'w')
    const part = Array.from({ length: 10_000 }, (_, index) => `row ${index} ${'.'.repeat(80)}\n`).join('')
    for (let times = 0; times < 75; times++) writeSync(file, part)
    closeSync(file)
    const first = await space.read('huge.log')
    expect(first.text).toMatch(/^row 0 [\s\S]*\[Lines 1-\d+ of a file of 6\d MB; go on with offset \d+\. It is too large for `edit`/)
    const offset = Number(/offset (\d+)/.exec(first.text)?.[1])
    expect((await space.read({ path: 'huge.log', offset, limit: 2 })).text.startsWith(`row ${offset - 1} `)).toBe(true)
    expect((await space.read({ path: 'huge.log', offset: 749_999 })).text).toMatch(/^row 9998 .*\nrow 9999 .*\n\n\[Lines 749999-750000 of a file of \d+ MB, to its end/)
    expect((await space.read({ path: 'huge.log', offset: 750_001 })).text).toContain('750000 lines')
    truncateSync(path, 0)
  })
})

describe('what is no text', () => {
  test('a folder is listed', async () => {
    const space = workspace()
    mkdirSync(`${space.folder}/src`)
    space.put('a.ts', 'x')
    expect((await space.read('.')).text).toBe('. is a folder with:\nsrc/\na.ts  1 B')
  })
  test('a pipe, a socket and a device are refused at once', async () => {
    const space = workspace()
    execFileSync('mkfifo', [`${space.folder}/pipe`])
    const server = createServer().listen(`${space.folder}/sock`)
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    expect((await space.read('pipe')).text).toContain('named pipe')
    expect((await space.read('sock')).text).toContain('socket')
    expect((await space.read('/dev/zero')).text).toContain('device')
    symlinkSync('/dev/zero', `${space.folder}/link`)
    expect((await space.read('link')).text).toContain('device')
    symlinkSync('circle', `${space.folder}/circle`)
    expect((await space.read('circle')).text).toContain('circle')
  })
  test.each([
    ['a.pdf', Buffer.from('%PDF-1.7\n%plain'), /PDF document.*pdftotext -layout a\.pdf/],
    ['a b.zip', Buffer.from('PK\x03\x04\0\0'), /ZIP archive.*unzip -l 'a b\.zip'/],
    ['a.out', Buffer.from('\x7fELF\0\0'), /ELF program of 6 B/],
    ['wide.txt', Buffer.from('mode=on', 'utf16le'), /looks like UTF-16.*iconv/],
  ])('%s is described, and how to see it is said', async (name, bytes, expected) => {
    const space = workspace()
    const path = space.put(name, bytes)
    expect(await space.read(name)).toMatchObject({ status: 'ok', text: expect.stringMatching(expected) })
    expect(space.seen.has(path)).toBe(false)
  })
  test('a notebook is read as the JSON that it is, with how to see its code', async () => {
    const space = workspace()
    space.put('n.ipynb', '{"cells":[]}')
    expect((await space.read('n.ipynb')).text).toMatch(/^\{"cells":\[\]\}[\s\S]*jq -r/)
  })
  test('a file of /proc that says it is empty is read', async () => {
    const space = workspace()
    expect((await space.read('/proc/self/status')).text).toContain('Name:')
  })
})

describe('images', () => {
  test('are shown to a model that sees them', async () => {
    const space = workspace({ images: true })
    const bytes = png(30, 20)
    space.put('a.dat', bytes)
    const output = await space.read('a.dat')
    expect(output).toMatchObject({ status: 'ok', text: `a.dat is an image (png, 30 x 20 pixels, ${bytes.length} B).`, images: [{ mediaType: 'image/png', name: 'a.dat' }] })
    expect(Buffer.from(space.blobs.get(output.images![0]!.blob.sha256)!)).toEqual(bytes)
  })
  test('are described to one that does not', async () => {
    const space = workspace()
    space.put('a.png', png(30, 20))
    const output = await space.read('a.png')
    expect(output.text).toContain('not shown images')
    expect(output.images).toBeUndefined()
  })
  test('X12: one with too many pixels is made smaller', async () => {
    const space = workspace({ images: true })
    space.put('wide.png', png(9_000, 100))
    const output = await space.read('wide.png')
    const image = PNG.sync.read(Buffer.from(space.blobs.get(output.images![0]!.blob.sha256)!))
    expect([image.width, image.height, ...image.data.subarray(0, 4)]).toEqual([2_000, 22, 200, 200, 200, 255])
    expect(output.text).toContain('shown at 2000 x 22')
  })
  test('one with too many bytes is made smaller, and a JPEG stays one', async () => {
    const space = workspace({ images: true })
    space.put('noise.png', png(1_500, 1_200, true))
    const small = await space.read('noise.png')
    expect(small.images![0]!.blob.bytes).toBeLessThanOrEqual(3_500_000)
    space.put('photo.jpg', jpeg.encode({ width: 2_500, height: 100, data: Buffer.alloc(2_500 * 100 * 4, 120) }, 90).data)
    expect(await space.read('photo.jpg')).toMatchObject({ text: expect.stringContaining('shown at 2000 x 80'), images: [{ mediaType: 'image/jpeg' }] })
  })
  test('one that holds far more pixels than bytes is not unpacked', async () => {
    const space = workspace({ images: true })
    const bomb = png(10, 10)
    bomb.writeUInt32BE(60_000, 16)
    bomb.writeUInt32BE(60_000, 20)
    space.put('bomb.png', bomb)
    expect(await space.read('bomb.png')).toMatchObject({ status: 'failed', text: expect.stringMatching(/60000 x 60000.*unpacked/) })
  })
  test('a broken one is said to be that', async () => {
    const space = workspace({ images: true })
    space.put('broken.png', png(3_000, 10).subarray(0, 60))
    expect(await space.read('broken.png')).toMatchObject({ status: 'failed', text: expect.stringContaining('could not be made smaller') })
  })
})

test('a file that is not there: what it may have meant, without looking where it may not', async () => {
  const space = workspace()
  mkdirSync(`${space.folder}/src`)
  writeFileSync(`${space.folder}/src/button.tsx`, '')
  const prepared = await space.prepare(space.tools.read, { path: 'src/buton.tsx' })
  expect(prepared).toMatchObject({ refused: expect.stringMatching(/no file src\/buton\.tsx.*src\/button\.tsx/), accesses: [{ kind: 'read', path: `${space.folder}/src/buton.tsx` }, { kind: 'read', path: `${space.folder}/src` }] })
})

test('K9: a link that leads out is named by where it leads', async () => {
  const [inside, outside] = [workspace(), workspace()]
  outside.put('secret', 'x')
  symlinkSync(outside.folder, `${inside.folder}/out`)
  expect(await inside.prepare(inside.tools.read, { path: 'out/secret' })).toMatchObject({ accesses: [{ kind: 'read', path: `${outside.folder}/secret` }] })
})

test('a link that is put in the path after the reading was allowed is not followed', async () => {
  const [inside, outside] = [workspace(), workspace()]
  outside.put('f', 'secret')
  mkdirSync(`${inside.folder}/d`)
  writeFileSync(`${inside.folder}/d/f`, 'mine')
  const prepared = await inside.prepare(inside.tools.read, { path: 'd/f' })
  execFileSync('mv', [`${inside.folder}/d`, `${inside.folder}/e`])
  symlinkSync(outside.folder, `${inside.folder}/d`)
  const output = await inside.run(prepared)
  expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining('link') })
  expect(output.text).not.toContain('secret')
})

test('a cancelled reading says so', async () => {
  const space = workspace({ signal: AbortSignal.abort() })
  space.put('f', 'x')
  expect((await space.read('f')).status).toBe('interrupted')
})
