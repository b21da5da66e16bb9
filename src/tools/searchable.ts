import type { Here, Refused } from '../core/ports.ts'
import type { Access } from '../core/record.ts'
import { itIs, look } from '../os/open-file.ts'
import { nearby } from './nearby.ts'
import { shownPath } from './shown-path.ts'

/** Where a search may begin: a folder or a file, with the accesses that it is. */
export async function searchable(path: string, here: Here): Promise<{ kind: 'file' | 'folder'; accesses: Access[] } | Refused> {
  const looked = await look(path)
  const { kind } = looked
  const accesses: Access[] = [{ kind: 'read', path }]
  if (kind === 'file' || kind === 'folder') return { kind, accesses }
  const shown = shownPath(path, here)
  if (kind === 'other') return { accesses, refused: `${shown} cannot be searched: ${itIs(looked)}.` }
  const { folder, text } = await nearby(path, here)
  return { accesses: [...accesses, { kind: 'read', path: folder }], refused: `There is nothing at ${shown}.${text}` }
}
