import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCommitOn } from '../../src/tools/commit-look.ts'
import { temporaryFolder } from '../support/file-space.ts'

function repo(): { cwd: string; git(...args: string[]): string } {
  const cwd = temporaryFolder()
  const git = (...args: string[]): string => execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid', ...args], { cwd, encoding: 'utf8' }).trim()
  git('init', '-q', '-b', 'main')
  return { cwd, git }
}

test('a commit is found by what it is on top of and its message, also where HEAD has moved on or back', async () => {
  const { cwd, git } = repo()
  expect(await findCommitOn(null, 'One', { cwd })).toEqual({ made: 'no' })
  git('commit', '-q', '--allow-empty', '-m', 'One')
  const first = git('rev-parse', 'HEAD')
  expect(await findCommitOn(null, 'One', { cwd })).toEqual({ made: 'yes', commit: `${first.slice(0, 10)} One` })
  expect(await findCommitOn(first, 'Two', { cwd })).toEqual({ made: 'no' })

  writeFileSync(join(cwd, 'message'), 'Two \n\n\n\nwith a body\n\n')
  git('commit', '-q', '--allow-empty', '--cleanup=whitespace', '-F', 'message')
  const second = git('rev-parse', '--short=10', 'HEAD')
  const found = { made: 'yes', commit: `${second} Two` }
  const message = 'Two\n\n\nwith a body'
  expect(await findCommitOn(first, message, { cwd })).toEqual(found)
  git('commit', '-q', '--allow-empty', '-m', 'Three')
  expect(await findCommitOn(first, message, { cwd })).toEqual(found)
  git('reset', '-q', '--soft', first)
  expect(await findCommitOn(first, message, { cwd })).toEqual(found)
  expect(await findCommitOn(first, 'Another', { cwd })).toEqual({ made: 'other', commit: `${second} Two` })
})

test('where there is no repository nobody can say', async () => {
  expect(await findCommitOn('abc', 'One', { cwd: temporaryFolder() })).toBe(null)
})
