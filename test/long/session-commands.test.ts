import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { calls, openWorld, say, type World } from '../support/world.ts'

const idOf = (file: string): string => basename(file, '.jsonl').replace(/^[^_]*_/, '')
const TOKEN = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'

/** A repository with a session, and a work tree beside it with another one. */
async function twoTrees(script: Parameters<typeof openWorld>[0]): Promise<{ world: World; tree: string; here: string; there: string }> {
  const world = await openWorld(script)
  const tree = join(world.folder, 'tree')
  world.git('worktree', 'add', '-q', '-b', 'side', tree)
  await world.run(['-p', 'about apples'])
  await world.run(['-p', 'about pears'], { cwd: tree })
  const folder = join(tree, '.agent', 'sessions')
  const there = readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? ''
  return { world, tree, here: world.sessions()[0] ?? '', there: join(folder, there) }
}

describe('tiller sessions', () => {
  it('lists those of this root first and those of other work trees with their folder; what is listed can be named', async () => {
    const { world, tree, here, there } = await twoTrees([say('One.'), say('Two.')])
    const { stdout } = await world.run(['sessions'])
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${idOf(here)} .* main +\\. +about apples\\n${idOf(there)} .* side +${tree} +about pears\\n$`))
    const json = (await world.run(['sessions', 'list', '--json'])).stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as object)
    expect(json).toMatchObject([
      { id: idOf(here), file: here, title: null, words: 'about apples', root: world.repo, branch: 'main', outcome: 'done', open: false, complete: true, unreadable: null },
      { id: idOf(there), root: tree, branch: 'side' },
    ])
    expect((await world.run(['sessions', 'show', idOf(there)])).stdout).toMatch(/about pears[^]*Two\./)
    expect((await world.run(['sessions', 'rename', idOf(there).slice(0, 8), 'Fruit', 'of', 'elsewhere'])).code).toBe(0)
    expect((await world.run(['sessions'])).stdout).toMatch(/Fruit of elsewhere\n$/)
    expect((await world.run(['sessions', 'search', 'TWO'])).stdout).toBe(`${idOf(there)}:${world.of('reply', there)[0]?.seq}  reply  Two.\n`)
    const none = await world.run(['sessions', 'search', 'plums', 'or', 'figs'])
    expect([none.code, none.stderr]).toEqual([1, 'tiller: none of 2 sessions says "plums or figs"\n'])
    const hits = (await world.run(['sessions', 'search', '--json', 'pears'])).stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as object)
    expect(hits).toContainEqual(expect.objectContaining({ id: idOf(there), type: 'input', excerpt: 'about pears' }))
  })

  it('wrong uses are exit 2 and one line that says what was expected', async () => {
    const { world, here } = await twoTrees([say('One.'), say('Two.')])
    const before = readFileSync(here)
    for (const [args, line] of [
      [['frob'], /"frob" is not known; expected list, show/], [['show', 'a', 'b'], /expected an id or its beginning/], [['rename', idOf(here), ' '], /A title has to say something/],
      [['show', 'zz'], /No session has the id "zz"\. The newest ones are .*about apples.*about pears/], [['remove', 'apples', '--yes'], /No session has the id "apples"\. Perhaps \w+ \(about apples\)/],
      [['show', './nope.jsonl'], /nope\.jsonl cannot be read: there is no such file/], [['import', 'README.md'], /README\.md holds no record of a session/], [['export', idOf(here), '--format', 'pdf'], /--format pdf is not known; expected markdown, html, jsonl/], [['remove', idOf(here)], /nobody can be asked here: say --yes/],
    ] as const) {
      const { code, stdout, stderr } = await world.run(['sessions', ...args])
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(new RegExp(`^tiller: [^\\n]*${line.source}[^\\n]*\\n$`))])
    }
    expect(world.sessions()).toHaveLength(1)
    expect(readFileSync(here).equals(before)).toBe(true)
  })

  it('what somebody has open is neither renamed nor removed, and it is said who', async () => {
    const world = await openWorld([calls(['shell', { command: 'until [ -e go ]; do sleep 0.02; done' }]), say('Done.')])
    const first = world.start(['--json', '--mode', 'full', 'wait'])
    await first.until('spawn')
    const id = idOf(world.sessions()[0] ?? '')
    expect((await world.run(['sessions'])).stdout).toMatch(/ open +/)
    for (const [args, instead] of [[['rename', id, 'x'], 'rename it there with /title'], [['remove', id, '--yes'], 'go to another one there']] as const) {
      const { code, stderr } = await world.run(['sessions', ...args])
      expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`^tiller: The session ${id} is open in another tiller \\(pid ${first.pid} on .*\\): ${instead}, or close it first\\.\\n$`))])
    }
    world.write('go', '')
    expect((await first.ended).code).toBe(0)
    expect((await world.run(['sessions', 'rename', id, 'x'])).code).toBe(0)
  })

  it('remove takes several, with all that lies beside them, and nothing where one of them is not there', async () => {
    const big = calls(['shell', { command: 'seq 100000' }])
    const world = await openWorld([big, say('One.'), big, say('Two.'), say('Three.'), say('Four.')])
    for (const words of ['first', 'second', 'third']) await world.run(['-p', '--mode', 'full', words])
    const [one = '', two = '', three = ''] = world.sessions()
    await world.run(['--fork', idOf(one), '-p', 'and on'])
    const fork = world.sessions().at(-1) ?? ''
    const folder = dirname(one)
    const blobs = (file: string): string[] => readdirSync(file.replace('.jsonl', '.blobs'), { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(file.replace('.jsonl', '.blobs'), name)).isFile())
    const shared = blobs(fork)
    expect(shared.length).toBeGreaterThan(0)
    expect((await world.run(['sessions', 'remove', '--yes', idOf(one), 'zz'])).code).toBe(2)
    expect(existsSync(one)).toBe(true)
    expect((await world.run(['sessions', 'remove', '--yes', idOf(one), idOf(two), idOf(one)])).code).toBe(0)
    expect(readdirSync(folder).filter((name) => name.includes(idOf(one)) || name.includes(idOf(two)))).toEqual([])
    expect(world.sessions().toSorted()).toEqual([three, fork].toSorted())
    expect(blobs(fork), 'what the fork uses stays').toEqual(shared)
  })

  it('show tells damage where it stands', async () => {
    const world = await openWorld([say('Red.'), say('Blue.')], { unchecked: true })
    await world.run(['-p', 'a colour'])
    await world.run(['-c', '-p', 'another'])
    const [file = ''] = world.sessions()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const reply = lines.findIndex((line) => line.includes('Red.'))
    writeFileSync(file, `${lines.map((line, index) => (index === reply ? '\0'.repeat(40) : line)).join('\n')}\n{"seq":99,"ty`)
    const { code, stdout } = await world.run(['sessions', 'show', idOf(file)])
    expect(code).toBe(0)
    expect(stdout).toMatch(/a colour[^]*the log is damaged: 40 NUL bytes[^]*another[^]*Blue\.[^]*the log is damaged: the last write was cut off/)
    expect(stdout.match(/damaged/g)).toHaveLength(3)
    expect((await world.run(['sessions', 'list'])).stdout).toContain('a colour')
  })
})

describe('a session of another work tree', () => {
  it('is not gone on with here unsaid: -r names both ways, --fork takes a copy without what was allowed, and the model is told', async () => {
    const touch = (name: string): ReturnType<typeof calls> => calls(['shell', { command: `touch ${name}` }])
    const { world, tree, there } = await twoTrees([say('One.'), touch('a'), say('Two.'), touch('b'), say('Copied.'), say('There.')])
    const id = idOf(there)
    writeFileSync(there, readFileSync(there, 'utf8').replace('"mode":"ask"', '"mode":"full"'))
    const refused = await world.run(['-r', id.slice(0, 6), '-p', 'more'])
    expect([refused.code, refused.stderr]).toEqual([2, `tiller: The session ${id} belongs to ${tree}, not to ${world.repo}. Go on with it there (tiller -C ${tree} -r ${id}), or take a copy of it here with --fork ${id}.\n`])
    expect(world.sessions()).toHaveLength(1)
    const before = readFileSync(there)
    expect((await world.run(['--fork', id.slice(0, 6), '-p', 'more'])).code).toBe(5)
    const copy = world.sessions().at(-1) ?? ''
    expect(world.of('session', copy)).toMatchObject([{ root: world.repo, cwd: world.repo, git: { branch: 'main' }, fork: { id } }])
    expect(JSON.stringify(world.server.requests.at(-1)?.body['messages'])).toMatch(new RegExp(`about pears.*This session is a copy: what stands above was done in ${tree}, and it goes on in ${world.repo}\\..*more`))
    expect(world.exists('b'), 'what was allowed there is asked here').toBe(false)
    expect(readFileSync(there).equals(before)).toBe(true)
    expect((await world.run(['-C', tree, '-r', id, '--mode', 'plan', '-p', 'there'])).code).toBe(0)
  })

  it('whose folder is gone can still be copied', async () => {
    const { world, tree, there } = await twoTrees([say('One.'), say('Two.'), say('Three.')])
    const file = join(world.folder, 'kept.jsonl')
    writeFileSync(file, readFileSync(there), { mode: 0o600 })
    world.git('worktree', 'remove', '--force', tree)
    const { code, stderr } = await world.run(['-r', file, '-p', 'more'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`That folder is not there any more: take a copy of it here with --fork ${file}.`)])
    expect((await world.run(['--fork', file, '-p', 'more'])).code).toBe(0)
    expect((await world.run(['sessions'])).stdout).not.toContain(tree)
  })
})

describe('export and import', () => {
  it('export writes Markdown, a page or JSON lines without secrets, to stdout or to a file that is not there yet', async () => {
    const world = await openWorld([calls(['write', { path: 'new.txt', content: 'first\n' }]), say(`The answer & <b>more</b>.`)])
    const env = { DEPLOY_TOKEN: 'words-of-no-known-form' }
    await world.run(['-p', '--mode', 'edit', `use ${TOKEN} and ${env.DEPLOY_TOKEN} for it`])
    const id = idOf(world.sessions()[0] ?? '')
    for (const [format, what] of [['md', /^# Session\n[^]*```diff\n[^]*\+first[^]*The answer & <b>more<\/b>\./], ['html', /^<!doctype html>[^]*class="add">\+first[^]*&#60;b&#62;more/], ['jsonl', /^\{"seq":0,/]] as const) {
      const { code, stdout } = await world.run(['sessions', 'export', id, '--format', format], { env })
      expect([code, stdout]).toEqual([0, expect.stringMatching(what)])
      expect(stdout).toContain('[redacted:')
      expect(stdout).not.toMatch(new RegExp(`${TOKEN}|${env.DEPLOY_TOKEN}`))
    }
    for (const [file, what] of [['out.md', /^# Session/], ['out', /^<!doctype/]] as const) {
      expect(await world.run(['sessions', 'export', id, file])).toMatchObject({ code: 0, stdout: `${join(world.repo, file)}\n` })
      expect(world.read(file)).toMatch(what)
      expect(statSync(join(world.repo, file)).mode & 0o777).toBe(0o600)
    }
    const again = await world.run(['sessions', 'export', id, 'out.md'])
    expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/out\.md is there already and stays as it is/)])
    expect((await world.run(['sessions', 'export', id, 'no/such/out.md'])).stderr).toMatch(/^tiller: .*cannot be written to .*no such file or folder/)
  })

  it('a session of another folder is imported by its path, as a copy that belongs here', async () => {
    const there = await openWorld([calls(['shell', { command: 'seq 100000' }]), say('One.')])
    await there.run(['-p', '--mode', 'full', 'about apples'])
    const [from = ''] = there.sessions()
    const before = readFileSync(from)
    const world = await openWorld([say('Two.')], { files: { 'sub/x': 'x' } })
    const { code, stdout, stderr } = await world.run(['sessions', 'import', from], { cwd: join(world.repo, 'sub') })
    expect([code, stderr]).toEqual([0, `tiller: tiller -r ${stdout.trim()} goes on with it\n`])
    expect(world.of('session')).toMatchObject([{ id: stdout.trim(), root: world.repo, cwd: join(world.repo, 'sub'), fork: { id: idOf(from) } }])
    expect(world.of('set').some(({ mode }) => mode !== undefined), 'its mode is left behind').toBe(false)
    expect((await world.run(['-r', stdout.trim().slice(0, 6), '-p', 'more'])).code).toBe(0)
    expect(JSON.stringify(world.server.requests[0]?.body['messages'])).toMatch(/about apples.*One\..*This session is a copy.*more/)
    expect(readdirSync(world.sessions()[0]?.replace('.jsonl', '.blobs') ?? '')).not.toEqual([])
    expect(readFileSync(from).equals(before)).toBe(true)
  })

  it('what was exported as JSON lines can be imported, also where a line of it is damaged', async () => {
    const world = await openWorld([say('One.'), say('Two.')], { unchecked: true })
    await world.run(['-p', 'about apples'])
    await world.run(['sessions', 'export', idOf(world.sessions()[0] ?? ''), 'out.jsonl'])
    appendFileSync(join(world.repo, 'out.jsonl'), '{"seq":77,"at')
    const { code, stdout } = await world.run(['sessions', 'import', 'out.jsonl'])
    expect(code).toBe(0)
    expect((await world.run(['-r', stdout.trim(), '-p', 'more'])).code).toBe(0)
    expect(JSON.stringify(world.server.requests[1]?.body['messages'])).toMatch(/about apples.*One\..*more/)
  })

  it('one that cannot be read is listed with why, and said where it is named (J12)', async () => {
    const world = await openWorld([say('One.')])
    await world.run(['-p', 'about apples'])
    const folder = join(world.repo, '.agent', 'sessions', '20260101T000000Z_folder.jsonl')
    mkdirSync(folder)
    const { stdout } = await world.run(['sessions'])
    expect(stdout).toMatch(/about apples[^]*folder .*cannot be read: it is not a file/)
    for (const args of [['-r', 'folder', '-p', 'x'], ['sessions', 'export', 'folder']]) {
      const { code, stderr } = await world.run(args)
      expect([code, stderr]).toEqual([2, expect.stringMatching(/_folder\.jsonl is not a file/)])
    }
    expect(await world.run(['sessions', 'stats'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sessions +1\n/) as string, stderr: expect.stringContaining('cannot be read') as string })
    rmdirSync(folder)
  })
})
