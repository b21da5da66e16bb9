import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openWorld } from '../support/world.ts'

const OLD_NODE = '/usr/bin/node'
const oldMajor = existsSync(OLD_NODE)

describe('a wrong use', () => {
  it('is exit 2 and one line that names it, and nothing is made', async () => {
    const world = await openWorld()
    const cases: [string[], RegExp][] = [
      [['--nonsense'], /unknown option '--nonsense'/],
      [['-p', '--moed', 'full', 'x'], /--moed.*--mode/],
      [['-p', '--mode', 'yolo', 'x'], /--mode.*yolo.*plan, ask, edit, auto, full/],
      [['-p', '--effort', 'huge', 'x'], /--effort.*huge.*none, low, medium, high, max/],
      [['-p', '--max-steps', '0', 'x'], /--max-steps.*'0'.*number above 0/],
      [['-p', '--max-steps', '1.5', 'x'], /--max-steps.*1\.5.*whole number/],
      [['-p', '--max-minutes', 'soon', 'x'], /--max-minutes.*soon.*number above 0/],
      [['-p', '--max-calls', '-3', 'x'], /--max-calls.*-3/],
      [['-p', '--max-tokens', '1e400', 'x'], /--max-tokens/],
      [['-p', '--max-cost', 'free', 'x'], /--max-cost.*free/],
      [['-p', '--allow', 'npm test', 'x'], /--allow 'npm test': expected/],
      [['-p', '--deny', 'eat:cake', 'x'], /--deny 'eat:cake': expected/],
      [['-p', '--tools', 'read,fly', 'x'], /--tools.*no tool fly.*read, write/],
      [['-p', '--system', '@nowhere.md', 'x'], /--system.*nowhere\.md/],
      [['-p', '--append-system', '@nowhere.md', 'x'], /--append-system.*nowhere\.md/],
      [['-p', '--output-schema', 'nowhere.json', 'x'], /--output-schema.*nowhere\.json/],
      [['-p', '--output-schema', 'README.md', 'x'], /--output-schema.*README\.md/],
      [['-p', '--config', 'nowhere.rc', 'x'], /--config.*nowhere\.rc/],
      [['-C', '/nowhere', '-p', 'x'], /--cd.*\/nowhere/],
      [['-C', 'README.md', '-p', 'x'], /--cd.*README\.md/],
      [['-p', '-m', 'nonsense', 'x'], /nonsense.*provider\/model/],
      [['-p', '-m', 'nobody/model-1', 'x'], /nobody/],
      [['-p', '-m', 'replay/nowhere.jsonl', 'x'], /nowhere\.jsonl/],
      [['-p', '-m'], /--model.*argument missing/],
      [['-p', '-c', 'x'], /no session.*--continue/],
      [['-p', '-r', 'nothing', 'x'], /No session has the id "nothing"/],
      [['-p', '-r', '--json', 'x'], /--resume needs a session id/],
      [['-p', '--fork', 'nothing:3', 'x'], /No session has the id "nothing"/],
      [['-p', '--session', 'README.md', 'x'], /README\.md holds no record of a session/],
    ]
    // Two at a time: there are two cores.
    for (let index = 0; index < cases.length; index += 2) {
      await Promise.all(cases.slice(index, index + 2).map(async ([args, line]) => {
        const { code, stdout, stderr } = await world.run(args)
        const what = JSON.stringify(args)
        expect(stderr, what).toMatch(/^tiller: [^\n]+\n$/)
        expect(stderr, what).toMatch(line)
        expect([code, stdout], what).toEqual([2, ''])
      }))
    }
    expect(world.exists('.agent')).toBe(false)
    expect(world.server.requests).toEqual([])
  })

  it.runIf(oldMajor)('on an old Node is exit 2 and one sentence that names both versions', async ({ skip }) => {
    const world = await openWorld()
    const { stdout: version } = await world.run([], { node: OLD_NODE }).catch(() => ({ stdout: '' }))
    const { code, stdout, stderr } = await world.run(['--version'], { node: OLD_NODE })
    if (code === 0) skip(`${OLD_NODE} is new enough`)
    expect([code, stdout, version]).toEqual([2, '', ''])
    expect(stderr).toMatch(/^tiller needs Node 22\.12 or newer, and this is v\d+\.\d+\.\d+ \(\/usr\/bin\/node\)\.\n$/)
  })
})

it('--help and --version answer on stdout', async () => {
  const world = await openWorld()
  const [help, version] = [await world.run(['--help']), await world.run(['--version'])]
  expect([help.code, help.stderr, version.code, version.stderr]).toEqual([0, '', 0, ''])
  expect(help.stdout).toMatch(/^Usage: tiller /)
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
