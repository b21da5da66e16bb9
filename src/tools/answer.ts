import type { Output } from '../core/ports.ts'

export const said = (text: string): Output => ({ status: 'ok', text })
export const failed = (text: string): Output => ({ status: 'failed', text })
/** Of a path that was a link's place by the time it was used. */
export const moved = (shown: string): Output => failed(`${shown} was not looked at: a link was put in its path a moment ago, so that it leads elsewhere. Look at it again.`)
export const cancelled = (): Output => ({ status: 'interrupted', text: 'Cancelled; nothing was changed.' })

/** Remarks in brackets, below what was asked for. */
export const withNotes = (text: string, notes: readonly (string | null | undefined | false)[]): string => {
  const told = notes.filter((note): note is string => typeof note === 'string' && note !== '').map((note) => `[${note}]`)
  return [text, ...(told.length > 0 ? [told.join('\n')] : [])].filter((part) => part !== '').join('\n\n')
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
