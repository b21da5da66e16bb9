import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, linkSync, lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { edit } from '../../src/tools/edit.ts'
import { write } from '../../src/tools/write.ts'
import { hash, workspace } from '../support/file-space.ts'

/** A file with this content is read, then edited. */
async function edited(content: string | Uint8Array, edits: { old: string; new: string; all?: boolean }[]) {
  const space = workspace()
  space.put('f', content)
  await space.read('f')
  const output = await space.call(edit, { path: 'f', edits })
  return { output, bytes: space.bytes('f'), text: space.text('f') }
}

describe('line endings', () => {
  test('E1: an edit of several lines matches in a CRLF file and keeps CRLF', async () => {
    const { output, text } = await edited('def a():\r\n    return 1\r\n\r\ndef b():\r\n    return 2\r\n', [{ old: 'def a():\n    return 1\n', new: 'def a():\n    return 10\n' }])
    expect(output.status).toBe('ok')
    expect(text).toBe('def a():\r\n    return 10\r\n\r\ndef b():\r\n    return 2\r\n')
  })
  test('E2: lines that are added take the ending of those around them', async () => {
    expect((await edited('foo\r\nbar\r\nbaz\r\n', [{ old: 'foo\nbar\nbaz', new: 'foo\nBAR1\nBAR2\nbaz' }])).text).toBe('foo\r\nBAR1\r\nBAR2\r\nbaz\r\n')
  })
  test('E3: git sees one changed line', async () => {
    const space = workspace()
    const git = (...argv: string[]): string => execFileSync('git', ['-c', 'core.autocrlf=false', '-c', 'user.name=t', '-c', 'user.email=t@t', ...argv], { cwd: space.folder, encoding: 'utf8' })
    git('init', '-q')
    space.put('w.txt', Array.from({ length: 200 }, (_, index) => `l${index}\r\n`).join(''))
    git('add', '.')
    git('commit', '-qm', 'x')
    await space.read('w.txt')
    await space.call(edit, { path: 'w.txt', edits: [{ old: 'l100\n', new: 'L100\n' }] })
    expect(git('diff', '--numstat').trim()).toBe('1\t1\tw.txt')
  })
  test('E5: mixed endings stay as they are, line by line', async () => {
    expect((await edited('one\r\ntwo\nthree\r\nfour\n', [{ old: 'three', new: 'THREE' }])).text).toBe('one\r\ntwo\nTHREE\r\nfour\n')
    expect((await edited('one\r\ntwo\nthree\r\nfour\n', [{ old: 'two\nthree\nfour', new: 'two\nTHREE\nfour' }])).text).toBe('one\r\ntwo\nTHREE\r\nfour\n')
  })
  test('a CR is literal only where old matched one', async () => {
    expect((await edited('a\r\nb\r\n', [{ old: 'a\r\n', new: 'x\r\n' }])).text).toBe('x\r\nb\r\n')
    expect((await edited('a\nb\n', [{ old: 'a\n', new: 'x\r\ny\r\n' }])).text).toBe('x\ny\nb\n')
    expect((await edited('a\rb\nc\n', [{ old: 'a\rb', new: 'a\rX' }])).text).toBe('a\rX\nc\n')
  })
  test('a match never begins between CR and LF', async () => {
    expect((await edited('a\r\nb\r\n', [{ old: '\nb', new: '\nX\nb' }])).text).toBe('a\r\nX\r\nb\r\n')
  })
  test('an old Mac file keeps its CR endings', async () => {
    expect((await edited('a\rb\rc\r', [{ old: 'a\nb\n', new: 'a\nB\nB2\n' }])).text).toBe('a\rB\rB2\rc\r')
  })
  test('all places are replaced in a file of mixed endings, not one half of them', async () => {
    expect((await edited('x\ny\r\nx\r\ny\n', [{ old: 'x\ny', new: 'z\ny', all: true }])).text).toBe('z\ny\r\nz\r\ny\n')
  })
  test('E35: a missing final line break, and empty lines at the end, stay', async () => {
    expect((await edited('a\nb\nc', [{ old: 'b', new: 'B' }])).text).toBe('a\nB\nc')
    expect((await edited('a\nb\n\n\n', [{ old: 'b', new: 'B' }])).text).toBe('a\nB\n\n\n')
    expect((await edited('a\nb\nc', [{ old: 'b\nc\n', new: 'B\nC\n' }])).text).toBe('a\nB\nC')
  })
})

describe('encodings', () => {
  test('E6: the byte order mark stays, and the first line matches without it', async () => {
    const space = workspace()
    space.put('b.cs', '\ufeffname: café\nmode: a\n')
    await space.read('b.cs')
    await space.call(edit, { path: 'b.cs', edits: [{ old: 'name: café', new: 'name: the\u0301' }] })
    expect(space.text('b.cs')).toBe('\ufeffname: the\u0301\nmode: a\n')
    await space.call(edit, { path: 'b.cs', edits: [{ old: '\ufeffname', new: '\ufeffnames' }, { old: 'mode: a', new: 'mode: b' }] })
    expect(space.text('b.cs')).toBe('\ufeffnames: the\u0301\nmode: b\n')
    await space.call(write, { path: 'b.cs', content: 'new\n' })
    expect(space.text('b.cs')).toBe('\ufeffnew\n')
  })
  test('E8, E11: a byte that is not UTF-8 stays', async () => {
    const { bytes, output } = await edited(Buffer.from('/* \xa9 2020 */\nint x = 1;\n', 'latin1'), [{ old: 'x = 1', new: 'x = 2' }])
    expect(bytes).toEqual(Buffer.from('/* \xa9 2020 */\nint x = 2;\n', 'latin1'))
    expect(output.status).toBe('ok')
    expect((await edited(Buffer.from('caf\xe9\nx\n', 'latin1'), [{ old: 'café', new: 'thé' }])).bytes).toEqual(Buffer.from('th\xe9\nx\n', 'latin1'))
  })
  test('what the encoding cannot hold is refused, with the reason and a way out', async () => {
    const before = Buffer.from('caf\xe9\nx\n', 'latin1')
    const { bytes, output } = await edited(before, [{ old: 'x', new: '日本' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringMatching(/windows-1252.*日 本.*iconv/) })
    expect(bytes).toEqual(before)
  })
  test('into a file of an encoding that can only be guessed no character is put whose bytes nobody knows', async () => {
    // GBK
    const before = Buffer.concat([Buffer.from('// '), Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), Buffer.from('\nx = 1\n')])
    expect((await edited(before, [{ old: 'x = 1', new: 'x = 2 \u2014 caf\u00e9' }])).output).toMatchObject({ status: 'failed', text: expect.stringContaining('only ASCII can be added, and not \u2014 \u00e9') })
    expect((await edited(before, [{ old: 'x = 1', new: '// \u00d6\u00d0\u00ce\u00c4\nx = 2' }])).bytes).toEqual(Buffer.concat([Buffer.from('// '), Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), Buffer.from('\n// '), Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), Buffer.from('\nx = 2\n')]))
    const space = workspace()
    space.put('g', before)
    expect((await space.read('g')).text).toContain('an older encoding that is not known')
    expect(await space.call(write, { path: 'g', content: 'caf\u00e9\n' })).toMatchObject({ status: 'failed', text: expect.stringContaining('only ASCII') })
  })
  test.each(['utf-16le', 'utf-16be'])('E9: %s with its mark is read, edited and written as such', async (encoding) => {
    const make = (text: string): Buffer => {
      const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
      return encoding === 'utf-16be' ? bytes.swap16() : bytes
    }
    const space = workspace()
    space.put('u.txt', make('mode=on\nname=x\n'))
    expect((await space.read('u.txt')).text).toContain('mode=on\nname=x')
    await space.call(edit, { path: 'u.txt', edits: [{ old: 'mode=on', new: 'mode=off 😀' }] })
    expect(space.bytes('u.txt')).toEqual(make('mode=off 😀\nname=x\n'))
  })
  test('a binary file is refused with the reason', async () => {
    const space = workspace()
    space.put('a.bin', Buffer.from([0, 1, 2, 3, 0, 255]))
    expect(await space.call(edit, { path: 'a.bin', edits: [{ old: 'a', new: 'b' }] })).toMatchObject({ status: 'failed', text: expect.stringContaining('binary data') })
  })
})

describe('what a loose match leaves alone', () => {
  test.each([
    ['apostrophes of a line that changes', 'L\u2019un ou l\u2019option A.\n', "L'un ou l'option A.", "L'un ou l'option B.", 'L\u2019un ou l\u2019option B.\n'],
    ['quotes that come in pairs', 'say(\u201ca\u201d, 1)\n', 'say("a", 1)', 'say("a", 2)', 'say(\u201ca\u201d, 2)\n'],
    ['no single quote of a pair', 'say(\u201ca\u201d)\n', 'say("a")', 'say("b")', 'say("b")\n'],
    ['dashes, no-break blanks and an ellipsis', 'x\u00a0\u2014 one\u2026 two\n', 'x - one... two', 'x - one... three', 'x\u00a0\u2014 one\u2026 three\n'],
    ['an accent of two characters', 'cafe\u0301 a\n', 'caf\u00e9 a', 'caf\u00e9 b', 'cafe\u0301 b\n'],
    ['a hard line break of Markdown', 'first line  \nsecond\n', 'first line\nsecond', 'FIRST line\nsecond', 'FIRST line  \nsecond\n'],
    ['its indentation with tabs', '\tsay \u201ca b c d e\u201d x\n', '    say "a b c d e" x', '    say "a b c d e" y', '\tsay \u201ca b c d e\u201d y\n'],
    ['nothing of a line that gives way to another', 'say \u201ca\u201d  \nz\n', 'say "a"\nz', 'print("b", file="c")\nz', 'print("b", file="c")\nz\n'],
  ])('%s', async (_, content, old, wanted, after) => {
    expect((await edited(content, [{ old, new: wanted }])).text).toBe(after)
  })
  test('blanks at the end go where old had them', async () => {
    expect((await edited('a \u2014 b  \nc\n', [{ old: 'a - b  \nc', new: 'a - b\nc' }])).text).toBe('a \u2014 b\nc\n')
  })
  test('plain line breaks in a CRLF file are as they should be, and nothing is said of them', async () => {
    expect((await edited('a\r\nb\r\n', [{ old: 'a\nb', new: 'a\nc' }])).output.text).toBe('Edited f: line 1 (+2 -2).')
  })
})

describe('bytes that are not UTF-8 in a text that else is', () => {
  const content = Buffer.concat([Buffer.from('caf\u00e9 \u65e5\n'), Buffer.from([0xff, 0x0a]), Buffer.from('x = 1\n')])
  test('stay, and what is beside them can be edited in any character', async () => {
    const { bytes, output } = await edited(content, [{ old: 'caf\u00e9', new: 'th\u00e9 \u2192 \ud83d\ude00' }])
    expect(output.status).toBe('ok')
    expect(bytes).toEqual(Buffer.concat([Buffer.from('th\u00e9 \u2192 \ud83d\ude00 \u65e5\n'), Buffer.from([0xff, 0x0a]), Buffer.from('x = 1\n')]))
  })
  test('are not lost to a whole new text, nor matched by how they are shown', async () => {
    const space = workspace()
    space.put('f', content)
    await space.read('f')
    expect(await space.call(write, { path: 'f', content: 'new\n' })).toMatchObject({ status: 'failed', text: expect.stringContaining('1 byte that is not UTF-8 and would be lost') })
    expect((await space.call(edit, { path: 'f', edits: [{ old: '\\xff', new: '' }] })).text).toContain('only how they are shown')
    expect(space.bytes('f')).toEqual(content)
  })
})

describe('what no text file can hold', () => {
  test.each([['a NUL', 'x\0y', 'a NUL character'], ['half a character', 'x\ud800', 'half of a surrogate pair']])('%s is refused, since the file could not be edited from then on', async (_, wanted, what) => {
    const { output, text } = await edited('a\n', [{ old: 'a', new: wanted }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining(what) })
    expect(text).toBe('a\n')
    const space = workspace()
    expect(await space.call(write, { path: 'new', content: wanted })).toMatchObject({ status: 'failed', text: expect.stringContaining(what) })
  })
})

describe('what is matched', () => {
  test('E12: dollar sequences are plain text, once, everywhere and in several edits', async () => {
    const dollars = "$& $1 $$ $` $' $<n>"
    expect((await edited('x = PRICE;\nkeep\n', [{ old: 'PRICE', new: dollars }])).text).toBe(`x = ${dollars};\nkeep\n`)
    expect((await edited('PRICE PRICE\n', [{ old: 'PRICE', new: dollars, all: true }])).text).toBe(`${dollars} ${dollars}\n`)
    expect((await edited('a b\n', [{ old: 'a', new: dollars }, { old: 'b', new: '$&' }])).text).toBe(`${dollars} $&\n`)
  })
  test('E13: a loose match changes its own line only, and says that it was one', async () => {
    const rest = '// \u201cquoted\u201d \u2014 dash\nx\u00a0= 1;   \n'
    const { text, output } = await edited(`const a = "Alice";\n${rest}`, [{ old: 'const a = \u201cAlice\u201d;', new: 'const a = "Bob";' }])
    expect(text).toBe(`const a = "Bob";\n${rest}`)
    expect(output.text).toContain('quotes')
  })
  test('a line of context keeps its own quotes, dashes and trailing blanks', async () => {
    expect((await edited('it\u2019s \u2014 here  \nold\n', [{ old: "it's - here\nold", new: "it's - here\nnew" }])).text).toBe('it\u2019s \u2014 here  \nnew\n')
  })
  test('E15: quotes are written as they were sent', async () => {
    expect((await edited("l'ami", [{ old: "l'ami", new: 'l\u2019ami' }])).text).toBe('l\u2019ami')
  })
  test('an exact match that is unique wins over looser ones', async () => {
    expect((await edited('say "a"\nsay \u201ca\u201d\n', [{ old: 'say "a"', new: 'x' }])).text).toBe('x\nsay \u201ca\u201d\n')
  })
  test('a looser match is taken only where it is unique', async () => {
    const { output } = await edited('say \u201ca\u201d\nsay \u201ca\u201d\n', [{ old: 'say "a"', new: 'x' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringMatching(/2 places, at lines 1, 2/) })
  })
  test('E20: an empty old is refused', async () => {
    const { output, text } = await edited('1\n2\n', [{ old: '', new: 'appended\n' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining('`write`') })
    expect(text).toBe('1\n2\n')
  })
  test('E22: overlapping places count', async () => {
    const { output, text } = await edited('foo\nfoo\nfoo\n', [{ old: 'foo\nfoo\n', new: 'x\n' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringMatching(/2 places, at lines 1, 2/) })
    expect(text).toBe('foo\nfoo\nfoo\n')
    expect((await edited('foo\nfoo\nfoo\n', [{ old: 'foo\nfoo\n', new: 'x\n', all: true }])).output.text).toContain('overlap')
  })
  test('E23: blanks sent for tabs are written as tabs', async () => {
    const { text } = await edited('func f() {\n\tif a {\n\t\tb()\n\t}\n}\n', [{ old: '    if a {\n        b()', new: '    if a {\n        c()\n            d()' }])
    expect(text).toBe('func f() {\n\tif a {\n\t\tc()\n\t\t\td()\n\t}\n}\n')
  })
  test('E23: where the indentation cannot be told it is refused', async () => {
    const { output, text } = await edited('\tif a {\n', [{ old: '    if a {', new: '    if a {\n     b()' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining('indent') })
    expect(text).toBe('\tif a {\n')
  })
  test('E25: blanks at the end of new lines are written', async () => {
    expect((await edited('a\n', [{ old: 'a\n', new: 'first line  \nsecond line\n' }])).text).toBe('first line  \nsecond line\n')
  })
  test('E33: no match names the nearest places and what differs there', async () => {
    const twins = 'fn load_a() {\r\n  read("a")\r\n  done\r\n}\r\nfn load_b() {\r\n  read("b")\r\n  done\r\n}\r\n'
    const { output, text } = await edited(twins, [{ old: 'fn load_c() {\n  read("a")\n  done\n}\n', new: 'z' }])
    expect(output.text).toMatch(/Nearest is lines 1-4 \(then lines 5-8\)/)
    expect(output.text).toMatch(/line 1: "fn load_a\(\) \{"\n {4}in old: "fn load_c\(\) \{"/)
    expect(text).toBe(twins)
  })
  test('several edits are matched against the file as it was, all or none', async () => {
    const sequence = await edited('a\nb\n', [{ old: 'a', new: 'b' }, { old: 'b', new: 'c' }])
    expect(sequence.text).toBe('b\nc\n')
    const half = await edited('a\nb\n', [{ old: 'a', new: 'x' }, { old: 'nope', new: 'y' }])
    expect(half.output).toMatchObject({ status: 'failed', text: expect.stringMatching(/edits\[1\].*\n.*No edit was made/s) })
    expect(half.text).toBe('a\nb\n')
    expect((await edited('abc\n', [{ old: 'ab', new: 'x' }, { old: 'bc', new: 'y' }])).output.text).toContain('edits[0] and edits[1] both change line 1')
  })
  test.each([
    ['1\tfoo', 'line numbers'],
    ['     1\u2192foo', 'line numbers'],
    ['1: foo\n2: x = secret', 'line numbers'],
    ['foo\\nx = secret', 'escape them once'],
    ['\nfoo\n', 'no empty line where it begins or ends with one. But for that it is at line 1'],
    ['```\nfoo\n```', '``` marks'],
    ['foo\nx = &quot;', 'Nearest is lines 1-2'],
    ['x = [redacted:api-key]', 'placeholder'],
    ['new text', 'the same'],
  ])('the cause of a usual mistake is named: %s', async (old, cause) => {
    expect((await edited('foo\nx = secret\n', [{ old, new: 'new text' }])).output.text).toContain(cause)
  })
  test('an edit that builds on another one is told that they are matched side by side', async () => {
    expect((await edited('a\nb\n', [{ old: 'a', new: 'x' }, { old: 'x\nb', new: 'y' }])).output.text).toContain('join the two')
  })
  test('&lt; for < is named', async () => {
    expect((await edited('<a href="x">\n', [{ old: '&lt;a href=&quot;x&quot;&gt;', new: 'z' }])).output.text).toContain('where the file has < itself')
  })
  test('lines indented as none of the file is are named', async () => {
    const tabs = 'f() {\n\ta\n\tb\n\tc\n}\n'
    expect((await edited(tabs, [{ old: 'b', new: 'b\n    d' }])).output.text).toContain('The file indents with tabs')
    expect((await edited(tabs.replaceAll('\t', '  '), [{ old: 'b', new: 'b\n\td' }])).output.text).toContain('The file indents with blanks')
    expect((await edited(tabs, [{ old: 'b', new: 'b\n\td' }])).output.text).not.toContain('indents')
  })
  test('control characters are shown written out, and a copy of that is recognised', async () => {
    const { output } = await edited('a\x1b[31mred\n', [{ old: 'a\\x1b[31mred', new: 'b' }])
    expect(output.text).toContain('\\u001b')
  })
  test('a placeholder for a secret is never written over what it stands for', async () => {
    const { output, text } = await edited('key = "abc"\nx = 1\n', [{ old: 'x = 1', new: 'key = "[redacted:api-key]"\nx = 2' }])
    expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining('placeholder') })
    expect(text).toBe('key = "abc"\nx = 1\n')
  })
  test('a change that was made already is named as such', async () => {
    expect((await edited('const a = 2\n', [{ old: 'const a = 1', new: 'const a = 2' }])).output.text).toContain('may have been made already')
  })
})

describe('the file itself', () => {
  test('E16: the target of a link is edited and the link stays', async () => {
    const space = workspace()
    space.put('real.txt', 'v1\n')
    symlinkSync('real.txt', `${space.folder}/link.txt`)
    await space.read('link.txt')
    expect((await space.call(edit, { path: 'link.txt', edits: [{ old: 'v1', new: 'v2' }] })).status).toBe('ok')
    expect(readlinkSync(`${space.folder}/link.txt`)).toBe('real.txt')
    expect(space.text('real.txt')).toBe('v2\n')
  })
  test('E18: the mode stays, whatever the umask', async () => {
    const umask = process.umask(0o077)
    try {
      const space = workspace()
      chmodSync(space.put('run.sh', '#!/bin/sh\necho a\n'), 0o755)
      await space.read('run.sh')
      await space.call(edit, { path: 'run.sh', edits: [{ old: 'echo a', new: 'echo b' }] })
      expect(statSync(`${space.folder}/run.sh`).mode & 0o7777).toBe(0o755)
      await space.call(write, { path: 'run.sh', content: '#!/bin/sh\n' })
      expect(statSync(`${space.folder}/run.sh`).mode & 0o7777).toBe(0o755)
    } finally {
      process.umask(umask)
    }
  })
  test('hard links stay one file, and that is said', async () => {
    const space = workspace()
    space.put('a', 'v1\n')
    linkSync(`${space.folder}/a`, `${space.folder}/b`)
    await space.read('a')
    const output = await space.call(edit, { path: 'a', edits: [{ old: 'v1', new: 'v2' }] })
    expect(space.text('b')).toBe('v2\n')
    expect(output.text).toContain('hard links')
  })
  test('it must have been read in this session', async () => {
    const space = workspace()
    space.put('f', 'a\n')
    expect(await space.call(edit, { path: 'f', edits: [{ old: 'a', new: 'b' }] })).toMatchObject({ status: 'failed', text: expect.stringContaining('Read it first') })
    expect(space.text('f')).toBe('a\n')
  })
  test('E26, L6: a file that somebody else changed is not touched; what it is now is shown, and the next try works', async () => {
    const space = workspace()
    space.put('f.txt', 'A\nB\nC\n')
    await space.read('f.txt')
    appendFileSync(`${space.folder}/f.txt`, 'D\n')
    const refused = await space.call(edit, { path: 'f.txt', edits: [{ old: 'A', new: 'a' }] })
    expect(refused).toMatchObject({ status: 'failed', text: expect.stringMatching(/changed since it was read[\s\S]*A\nB\nC\nD/) })
    expect((await space.call(edit, { path: 'f.txt', edits: [{ old: 'A', new: 'a' }] })).status).toBe('ok')
    expect(space.text('f.txt')).toBe('a\nB\nC\nD\n')
  })
  test('L6: of a large file the part that the edit is about is shown', async () => {
    const space = workspace()
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}\n`)
    space.put('f.txt', lines.join(''))
    await space.read({ path: 'f.txt', offset: 4_000, limit: 10 })
    space.put('f.txt', `${lines.join('')}more\n`)
    expect((await space.call(edit, { path: 'f.txt', edits: [{ old: 'line 4005\n', new: 'x\n' }] })).text).toMatch(/line 4004\nline 4005\nline 4006/)
  })
  test('E28: the same bytes are the same file, whatever its time', async () => {
    const space = workspace()
    const path = space.put('f', 'a\n')
    await space.read('f')
    utimesSync(path, new Date(), new Date(Date.now() + 5_000))
    writeFileSync(path, 'a\n')
    expect((await space.call(edit, { path: 'f', edits: [{ old: 'a', new: 'b' }] })).status).toBe('ok')
  })
  test('one edit after the other needs no reading in between', async () => {
    const space = workspace()
    space.put('f', 'a\nb\n')
    await space.read('f')
    await space.call(edit, { path: 'f', edits: [{ old: 'a', new: 'x\ny' }] })
    expect((await space.call(edit, { path: 'f', edits: [{ old: 'b', new: 'z' }] })).status).toBe('ok')
    expect(space.text('f')).toBe('x\ny\nz\n')
    expect((await space.call(write, { path: 'f', content: 'all new\n' })).status).toBe('ok')
  })
  test('what changes between the approval and the write is not overwritten', async () => {
    const space = workspace()
    space.put('f', 'a\n')
    await space.read('f')
    const prepared = await space.prepare(edit, { path: 'f', edits: [{ old: 'a', new: 'b' }] })
    space.put('f', 'a\nsomebody\n')
    expect(await space.run(prepared)).toMatchObject({ status: 'failed', text: expect.stringContaining('changed since it was read') })
    expect(space.text('f')).toBe('a\nsomebody\n')
  })
  test('two edits of one file, prepared alike and run together, never mix: the second is refused', async () => {
    const space = workspace()
    space.put('f', 'a\nb\n')
    await space.read('f')
    const both = await Promise.all([space.prepare(edit, { path: 'f', edits: [{ old: 'a', new: 'A' }] }), space.prepare(edit, { path: 'f', edits: [{ old: 'b', new: 'B' }] })])
    const outputs = await Promise.all(both.map(space.run))
    expect(outputs.map(({ status }) => status)).toEqual(['ok', 'failed'])
    expect(space.text('f')).toBe('A\nb\n')
  })
  test.each([
    ['a no-break blank', 'Shot 10.00\u202fAM.txt', 'Shot 10.00 AM.txt'],
    ['a curly quote', 'it\u2019s.txt', "it's.txt"],
    ['an accent of two characters', 'cafe\u0301/men\u0303u.txt', 'caf\u00e9/me\u00f1u.txt'],
  ])('a name with %s is found by what it looks like', async (_, name, written) => {
    const space = workspace()
    mkdirSync(dirname(`${space.folder}/${name}`), { recursive: true })
    space.put(name, 'a\n')
    expect((await space.read(written)).text).toContain('a')
    expect((await space.call(edit, { path: written, edits: [{ old: 'a', new: 'b' }] })).status).toBe('ok')
    expect((await space.call(write, { path: written, content: 'c\n' })).status).toBe('ok')
    expect(space.text(name)).toBe('c\n')
  })
  test('a mention with @ is the file itself, but a new file may have such a name', async () => {
    const space = workspace()
    space.put('f.txt', 'a\n')
    expect((await space.read('@f.txt')).text).toBe('a')
    expect((await space.call(write, { path: '@f.txt', content: 'x\n' })).text).toContain('Made @f.txt')
  })
  test('why a path cannot be looked at is a sentence', async () => {
    const space = workspace()
    space.put('f', '')
    expect((await space.read('f/g')).text).toBe('f/g cannot be read: a part of the path is a file, not a folder.')
    expect((await space.call(write, { path: 'a\0', content: '' })).text).toBe('a\\x00 cannot be changed: the path holds a NUL character.')
  })
  test('a file that is not there: what it may have meant, and how to make one', async () => {
    const space = workspace()
    space.put('main.ts', '')
    expect((await space.call(edit, { path: 'mian.ts', edits: [{ old: 'a', new: 'b' }] })).text).toMatch(/no file mian\.ts.*main\.ts.*`write`/)
  })
})

test('the preview, the changes and the result name the same bytes', async () => {
  const space = workspace()
  space.put('f', 'a\r\nb\r\n')
  await space.read('f')
  const prepared = await space.prepare(edit, { path: 'f', edits: [{ old: 'b', new: 'c' }] })
  if ('refused' in prepared) throw new Error(prepared.refused)
  const [before, after] = [hash(Buffer.from('a\r\nb\r\n')), hash(Buffer.from('a\r\nc\r\n'))]
  const path = `${space.folder}/f`
  expect(prepared.changes).toEqual([{ path, before, intended: after }])
  expect(prepared.accesses).toEqual([{ kind: 'read', path }, { kind: 'write', path }])
  expect(prepared.preview).toEqual({ kind: 'diff', diff: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c' })
  const output = await space.run(prepared)
  expect(output).toMatchObject({ status: 'ok', changes: [{ path, before, after }], diff: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c', seen: [{ path, sha256: after, whole: true }] })
  expect(lstatSync(path).isFile()).toBe(true)
})
