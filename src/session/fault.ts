import { sanitize } from '../core/sanitize.ts'
import type { Holder } from './lock.ts'

/** An expected end of looking for a session, opening or making one. The message is whole sentences for the person and says what to do. */
export interface SessionFault {
  kind: 'missing' | 'ambiguous' | 'unreadable' | 'not-a-session' | 'locked' | 'too-large' | 'not-writable' | 'elsewhere' | 'exists'
  message: string
  /** Who has it open. */
  holder?: Holder
  /** Ids that may have been meant, newest first. */
  suggestions?: string[]
}

/** Names of files, ids and hosts are whatever somebody made them. */
export const faultOf = (kind: SessionFault['kind'], message: string, more: Pick<SessionFault, 'holder' | 'suggestions'> = {}): SessionFault => ({ kind, message: sanitize(message).replace(/\s+/g, ' '), ...more })

const WORDS: Record<string, string> = {
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the device reported an input/output error',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder, not a file',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  EFBIG: 'the file would be larger than allowed',
  ELOOP: 'a link leads to itself',
  ENAMETOOLONG: 'the name is too long',
}

export const errnoOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown')

/** `no space is left on the device (ENOSPC)` */
export function inWords(error: unknown): string {
  const code = errnoOf(error)
  return WORDS[code] ? `${WORDS[code]} (${code})` : error instanceof Error ? error.message : String(error)
}
