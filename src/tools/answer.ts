import type { Output } from '../core/ports.ts'

export const said = (text: string): Output => ({ status: 'ok', text })
export const failed = (text: string): Output => ({ status: 'failed', text })
export const cancelled = (): Output => ({ status: 'interrupted', text: 'Cancelled; nothing was changed.' })

/** Remarks in brackets, below what was asked for. */
export const withNotes = (text: string, notes: readonly (string | null | undefined | false)[]): string => {
  const told = notes.filter((note): note is string => typeof note === 'string' && note !== '').map((note) => `[${note}]`)
  return [text, ...(told.length > 0 ? [told.join('\n')] : [])].filter((part) => part !== '').join('\n\n')
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
