import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../../src/os/git-repository.ts'
import { workTrees } from '../../src/os/work-trees.ts'
import { folder, raw, repo, top } from './git-repos.ts'

const of = (cwd: string): string[] => workTrees(repository(cwd)!)
const said = (cwd: string): string[] => [...raw(cwd, 'worktree', 'list', '--porcelain').matchAll(/^worktree (.*)$/gm)].map(([, path]) => path ?? '')

test('it agrees with git from every work tree, this one first, and leaves out what is gone', () => {
  const main = repo()
  const trees = ['one', 'two of\tthem'].map((name) => join(top, name))
  for (const tree of trees) raw(main, 'worktree', 'add', '-q', '--detach', tree)
  for (const tree of [main, ...trees]) {
    expect(of(tree)[0]).toBe(tree)
    expect(of(tree).sort()).toEqual(said(main).sort())
  }
  rmSync(trees[1] ?? '', { recursive: true })
  expect(of(main)).toEqual([main, trees[0]])
  expect(of(repo())).toHaveLength(1)
})

test('those of a bare repository and of a submodule are found', () => {
  const bare = join(folder(), 'x.git')
  raw(repo(), 'clone', '-q', '--bare', '.', bare)
  const trees = ['left', 'right'].map((name) => join(top, name))
  for (const tree of trees) raw(bare, 'worktree', 'add', '-q', '--detach', tree)
  expect(of(trees[0] ?? '')).toEqual(trees)

  const main = repo()
  raw(main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo(), 'sub')
  const beside = join(top, 'beside')
  raw(join(main, 'sub'), 'worktree', 'add', '-q', '--detach', beside)
  expect(of(join(main, 'sub'))).toEqual([join(main, 'sub'), beside])
})

test('a folder that only the repository names is none of its work trees', () => {
  const main = repo()
  const strange = repo()
  const link = join(top, 'link')
  symlinkSync(strange, link)
  for (const [name, target] of [['a', strange], ['b', link], ['c', '/'], ['d', `${strange}\0`]]) {
    mkdirSync(join(main, '.git', 'worktrees', name ?? ''), { recursive: true })
    writeFileSync(join(main, '.git', 'worktrees', name ?? '', 'gitdir'), `${target}/.git\n`)
  }
  expect(of(main)).toEqual([main])
})
