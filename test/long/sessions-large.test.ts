import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { scratch } from '../session/scratch.ts'

const src = new URL('../../src/session/', import.meta.url).pathname
const made: string[] = []
afterAll(() => { for (const file of made) rmSync(file, { force: true, recursive: true }) })

/** A session of about so many bytes, mostly results; with `compacted`, a compaction every 50 runs. */
function large(file: string, bytes: number, compacted: boolean): string {
  const fd = openSync(file, 'w', 0o600)
  let seq = 0
  let size = 0
  let lines: string[] = []
  const put = (fact: { type: string } & Record<string, unknown>): void => {
    const { type, ...rest } = fact
    lines.push(JSON.stringify({ seq, at: 1_796_000_000_000 + seq++, type, ...rest }))
  }
  put({ type: 'session', version: 1, id: 'large', cwd: '/w', root: '/w' })
  put({ type: 'system', text: 'x'.repeat(20_000), tools: [] })
  for (let run = 0; size < bytes; run++) {
    const first = seq
    put({ type: 'input', id: `i${run}`, text: `Do the thing number ${run}.`, from: 'user', when: 'next' })
    for (let step = 0; step < 3; step++) {
      put({ type: 'step', run: `r${run}`, number: step + 1, attempt: 1, inputs: step === 0 ? [`i${run}`] : [], model: 'a/b', request: { sha256: 'a'.repeat(64), bytes: 1 } })
      put({ type: 'reply', run: `r${run}`, parts: [{ type: 'text', text: 'I look at it. '.repeat(20) }, { type: 'call', id: `c${run}-${step}`, name: 'shell', input: { command: 'ls' } }], stop: 'calls', usage: { input: 1, output: 1 }, cost: 0.001 })
      put({ type: 'start', run: `r${run}`, call: `c${run}-${step}` })
      put({ type: 'result', run: `r${run}`, call: `c${run}-${step}`, status: 'ok', text: 'a line of "output"\n'.repeat(200) })
    }
    put({ type: 'outcome', run: `r${run}`, status: 'done', reason: 'done' })
    if (compacted && run % 50 === 49) put({ type: 'compact', summary: 'short '.repeat(300), keep: first, tokens: { before: 2, after: 1 }, carry: { grants: [], totals: { steps: 1, calls: 1, input: 1, output: 1, cost: 1, costUnknown: false }, seen: [], inputs: [] } })
    if (run % 50 === 49 || size + 1_000_000 > bytes) {
      size += writeSync(fd, `${lines.join('\n')}\n`)
      lines = []
    }
  }
  if (lines.length > 0) writeSync(fd, `${lines.join('\n')}\n`)
  closeSync(fd)
  made.push(file)
  return file
}

/** Runs a few lines in a process of their own with so much heap, and what they print. */
function measured(heap: number, code: string): { ms: number; rss: number; said: string } {
  const script = `const { openLog } = await import('${src}open-log.ts'); const { listSessions, completeSessions } = await import('${src}list.ts'); let said = ''; const began = process.cpuUsage(); ${code}; const used = process.cpuUsage(began); console.log(JSON.stringify({ ms: (used.user + used.system) / 1000, rss: process.memoryUsage().rss, said }))`
  const ended = spawnSync(process.execPath, [`--max-old-space-size=${heap}`, '--input-type=module', '-e', script], { encoding: 'utf8' })
  if (ended.status !== 0) throw new Error(ended.stderr)
  return JSON.parse(ended.stdout) as { ms: number; rss: number; said: string }
}

const opening = (file: string): string => `const opened = openLog('${file}', { now: Date.now }); said = opened.ok ? opened.log.records.length + ' records from ' + opened.log.base : opened.fault.kind; if (opened.ok) opened.log.close()`
const show = (what: string, { ms, rss, said }: { ms: number; rss: number; said: string }): void => { console.log(`${what}: ${ms.toFixed(0)} ms of processor time, ${(rss / 1e6).toFixed(0)} MB, ${said}`) }

test('opening costs what the live context costs, whatever the file weighs', () => {
  const folder = scratch()
  const small = measured(1024, opening(large(join(folder, 'small.jsonl'), 100_000, true)))
  show('0.1 MB', small)
  for (const megabytes of [20, 200, 1500]) {
    const opened = measured(1024, opening(large(join(folder, `${megabytes}.jsonl`), megabytes * 1e6, true)))
    show(`${megabytes} MB, compacted`, opened)
    expect(opened.said).toMatch(/^\d{2,3} records from \d+$/)
    expect(opened.rss).toBeLessThan(250e6)
  }
}, 600_000)

test('what was never compacted is read as far as memory allows, and refused with advice beyond', () => {
  const folder = scratch()
  const whole = measured(1024, opening(large(join(folder, '20.jsonl'), 20e6, false)))
  show('20 MB, never compacted', whole)
  expect(whole.said).toMatch(/ records from 0$/)
  const beyond = measured(1024, opening(large(join(folder, '1500.jsonl'), 1500e6, false)))
  show('1500 MB, never compacted', beyond)
  expect(beyond.said).toBe('too-large')
}, 600_000)

test('2,000 sessions of 1 MB, 20 of 100 MB and 10,000 small ones are listed in flat memory', () => {
  const folder = scratch()
  const one = large(join(folder, 'one.jsonl'), 1e6, false)
  const hundred = large(join(folder, 'hundred.jsonl'), 100e6, false)
  const small = large(join(folder, 'small.jsonl'), 20_000, false)
  const cases: [string, string, number][] = [['2,000 of 1 MB', one, 2_000], ['20 of 100 MB', hundred, 20], ['10,000 small', small, 10_000]]
  for (const [what, file, count] of cases) {
    const many = join(folder, what.replaceAll(/\W/g, ''))
    spawnSync('sh', ['-c', `mkdir '${many}'; i=0; while [ $i -lt ${count} ]; do ln '${file}' '${many}/2026_id'$i'.jsonl' 2>/dev/null || cp '${file}' '${many}/2026_id'$i'.jsonl'; i=$((i+1)); done`])
    const listing = `const all = await listSessions('${many}'); said = all.length + ' listed, ' + all.filter((entry) => entry.complete).length + ' completely'`
    const cold = measured(512, listing)
    const warm = measured(512, listing)
    show(`${what}, first time`, cold)
    show(`${what}, again`, warm)
    expect(cold.said).toContain(`${count} listed`)
    expect(cold.rss).toBeLessThan(300e6)
    expect(statSync(join(many, '.list-cache.json')).size).toBeLessThan(count * 1_000)
  }
}, 600_000)
