import type { Mode } from '../core/record.ts'
import { sandbox, type Sandbox, type Wrapped } from '../os/sandbox.ts'
import type { Settings } from './configure.ts'
import type { Place } from './place.ts'

/** The sandbox of this start. It is tried out when something first needs it, which costs a process. */
export interface HeldCommands {
  /** Waits until it is known whether there is one, where the mode or the configuration needs to know. */
  ready(): Promise<void>
  works(): boolean
  why(): string
  wrap(argv: readonly string[], where: { cwd: string }): Wrapped | undefined
}

export function sandboxFor(place: Place, { config }: Settings, mode: () => Mode): HeldCommands {
  let found: Sandbox = { works: false, why: 'it was not looked for' }
  const wanted = (): boolean => config.sandbox.enabled === true || (config.sandbox.enabled === 'auto' && mode() === 'auto')
  return {
    ready: async () => {
      if (wanted()) found = await sandbox()
    },
    works: () => found.works && wanted(),
    why: () => (found.works ? '' : found.why),
    wrap: (argv, { cwd }) => (found.works ? found.wrap(argv, { cwd, root: place.root, write: config.sandbox.write, network: config.sandbox.network === 'allow' }) : undefined),
  }
}
