import type { CallPart } from '../core/record.ts'
import { isObject } from './server-error.ts'

/** The arguments of a call as JSON text. What is no JSON object is `{}` and says why, so that it goes back to the model as valid JSON. */
export function parseArguments(text: string): Pick<CallPart, 'input' | 'invalid'> {
  if (text.trim() === '') return { input: {} }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { input: {}, invalid: `the arguments are not valid JSON (${error instanceof Error ? error.message : 'unreadable'}); they end with ${JSON.stringify(text.slice(-40))}` }
  }
  if (value === null) return { input: {} }
  if (isObject(value)) return { input: value }
  // Some servers encode the text twice.
  if (typeof value === 'string') {
    const inner = parseArguments(value)
    if (inner.invalid === undefined) return inner
  }
  return { input: {}, invalid: `the arguments are not a JSON object but ${JSON.stringify(value).slice(0, 60)}` }
}
