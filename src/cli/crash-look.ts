import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod/mini'
import type { Look } from '../loop/reconcile.ts'
import { removeLeftovers } from '../os/atomic-write.ts'
import type { EnvironmentOptions } from '../os/environment.ts'
import { readWhole } from '../os/files.ts'
import { isSameProcess } from '../os/process-start.ts'
import { clean } from '../tools/command-output.ts'
import { findCommitOn } from '../tools/commit-look.ts'

/** What can be seen on this machine of a run that a crash cut off. `tell` takes secrets out. */
export const crashLook = (cwd: string, environment: EnvironmentOptions, tell: (text: string) => string): Look => ({
  hashOf: async (path) => {
    const read = await readWhole(path, new AbortController().signal)
    return read.ok ? read.sha256 : null
  },
  tidy: (path) => removeLeftovers(path, performance.timeOrigin),
  lives: ({ pid, started }) => Promise.resolve(isSameProcess(pid, started ?? null)),
  outputOf: async ({ output }) => {
    if (output === undefined) return ''
    try {
      return tell(clean(await readFile(output, 'utf8')).slice(-4_000))
    } catch {
      return ''
    }
  },
  commitOn: (head, { input }) => {
    const wanted = CommitInput.safeParse(input)
    if (!wanted.success) return Promise.resolve(null)
    const { message, paths = [], path } = wanted.data
    return findCommitOn(head, message, { cwd: dirname(resolve(cwd, paths[0] ?? path ?? 'any')), environment })
  },
})

const CommitInput = z.object({ message: z.string(), paths: z.optional(z.array(z.string())), path: z.optional(z.string()) })
