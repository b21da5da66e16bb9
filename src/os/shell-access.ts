/** One effect of a command line: the same shape as `Access` of core/record.ts, which this folder must not import. */
export type ShellAccess =
  | { kind: 'read'; path: string }
  | { kind: 'write'; path: string; command: true }
  | { kind: 'exec'; argv: string[]; reads?: boolean }
  | { kind: 'net'; host: string }
  | { kind: 'unknown'; why: string; part: 'program' | 'path' }

/** What a command line is judged against. */
export interface Surroundings {
  /** Absolute and real, as the root and the home folder. */
  cwd: string
  root: string
  home: string
  /** By name: core/sensitive.ts. */
  isSecret: (path: string) => boolean
  isProtected: (path: string) => boolean
  /** The shell that will run it; of another one than bash less is known. */
  shell?: string
  /** The PATH it will run with. */
  path?: string
}

/** Folders that a command may stand in; null: any. */
export type Cwds = readonly string[] | null
