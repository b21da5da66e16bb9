/** How long something took. */
export function took(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** How long something has been going on: whole seconds, as it is looked at again and again. */
export const elapsed = (since: number, clock: number): string => (clock - since < 60_000 ? `${Math.max(0, Math.floor((clock - since) / 1_000))} s` : took(clock - since))

export const tokens = (count: number): string => (count < 1_000 ? String(count) : count < 100_000 ? `${(count / 1_000).toFixed(1).replace('.0', '')}k` : `${Math.round(count / 1_000)}k`)

export const money = ({ usd, unknown }: { usd: number; unknown: boolean }): string =>
  usd === 0 && unknown ? 'cost unknown' : `${unknown ? 'over ' : ''}$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`

/** `1 file`, `2 files`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`

/** `120 kB` */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const kilobytes = bytes / 1024
  if (kilobytes < 1000) return `${Math.round(kilobytes)} kB`
  return kilobytes < 1024 * 1000 ? `${(kilobytes / 1024).toFixed(1)} MB` : `${(kilobytes / 1024 / 1024).toFixed(1)} GB`
}

/** `3 min ago` */
export function age(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`
}
