import { exec, textOf } from '../os/exec.ts'
import { createModels, type Models } from '../model/registry.ts'
import type { Blobs } from '../core/ports.ts'
import type { Settings } from './configure.ts'
import type { Options } from './options.ts'

export function modelsOf(settings: Settings, options: Options, cwd: string, blobs: Pick<Blobs, 'get'>, msPerDelta?: number): Models {
  return createModels({
    providers: settings.config.providers,
    environment: process.env,
    runCommand: async (command) => {
      const ended = await exec({ command, cwd, timeoutMs: 20_000, env: { ...process.env } as Record<string, string> })
      if (ended.exit !== 0) throw new Error(`apiKey: the command ended with ${ended.exit === null ? ended.reason : `exit ${ended.exit}`}: ${textOf(ended.stderr).trim().slice(0, 200)}`)
      return textOf(ended.stdout).trim()
    },
    blobs,
    now: () => Date.now(),
    cwd,
    ...(options.offline ? { offline: true } : {}),
    ...(msPerDelta === undefined ? {} : { msPerDelta }),
  })
}
