import * as z from 'zod/mini'
import type { InputSchema } from './ports.ts'

export type CheckedInput = { ok: true; input: unknown } | { ok: false; why: string }

/** A call's arguments against its tool's schema; what is wrong is said so that a model can send it right. */
export function checkInput(schema: InputSchema<unknown>, input: unknown): CheckedInput {
  if ('validate' in schema) return schema.validate(input)
  const checked = schema.safeParse(input ?? {})
  if (checked.success) return { ok: true, input: checked.data }
  return { ok: false, why: `the arguments do not fit: ${checked.error.issues.slice(0, 5).map(describe).join('; ')}.` }
}

/** For the model: JSON Schema, as the provider wants it. */
export function declareInput(schema: InputSchema<unknown>): unknown {
  if ('validate' in schema) return schema.schema
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

function describe(issue: z.core.$ZodIssue): string {
  const where = issue.path.length > 0 ? issue.path.map(String).join('.') : 'the arguments'
  switch (issue.code) {
    case 'invalid_type':
      return `${where} must be ${article(issue.expected)}${issue.input === undefined ? ', and is missing' : ''}`
    case 'unrecognized_keys':
      return `${where} has no ${issue.keys.join(', ')}`
    case 'invalid_value':
      return `${where} must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `${where} must be at least ${issue.minimum}${issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' items long' : ''}`
    case 'too_big':
      return `${where} must be at most ${issue.maximum}`
    default:
      return `${where}: ${issue.message || issue.code}`
  }
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
