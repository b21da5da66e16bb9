import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

export interface Places { home: string; env: Readonly<Record<string, string | undefined>> }

/** Folders for Tiller's own files of this person, in the order they are looked at. A relative XDG folder is none. */
const folders = ({ home, env }: Places): string[] => {
  const named = env['XDG_CONFIG_HOME']
  return [...(named && isAbsolute(named) ? [join(named, 'tiller')] : []), join(home, '.config', 'tiller')]
}

/** Where a new file of this person goes. */
export const userFolder = (places: Places): string => folders(places)[0] ?? join(places.home, '.config', 'tiller')

/** The person's configuration: the first that exists, else where it would be made. */
export function userFile(places: Places): string {
  const candidates = [...folders(places).map((folder) => join(folder, 'agentrc')), join(places.home, '.agentrc')]
  return candidates.find((file) => existsSync(file)) ?? join(userFolder(places), 'agentrc')
}

export const trustFile = (places: Places): string => join(userFolder(places), 'trust.json')
