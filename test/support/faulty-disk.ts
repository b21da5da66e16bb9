import { join } from 'node:path'

/** What goes wrong, and when: see fixtures/bin/faulty-disk.js. */
export interface DiskFault {
  /** Names of calls, with blanks between them. */
  call: string
  /** A pattern of the file's path. */
  path: string
  nth?: number
  times?: number
  /** Only while this file exists. */
  while?: string
  error?: 'ENOSPC' | 'EIO' | 'EACCES' | 'EROFS'
  /** The error comes after half of a write. */
  half?: boolean
  kill?: 'before' | 'half' | 'after'
}

/** The environment of a start whose disk has these faults. */
export const faultyDisk = (...faults: DiskFault[]): Record<string, string> => ({
  NODE_OPTIONS: `--import=${join(import.meta.dirname, '..', '..', 'fixtures', 'bin', 'faulty-disk.js')}`, TILLER_TEST_DISK: JSON.stringify(faults),
})
