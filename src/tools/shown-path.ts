import type { Here } from '../core/ports.ts'
import { visibleName } from '../core/visible.ts'

/** A real path as results name it: from the working directory where it is in that, else absolute; control characters written out. */
export function shownPath(path: string, { cwd }: Pick<Here, 'cwd'>): string {
  if (path === cwd) return '.'
  return visibleName(path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path)
}
