import * as z from 'zod/mini'
import type { InputSchema } from './ports.ts'
import { plainToolName, signature, understand, type Declared } from './tool-arguments.ts'

export type CheckedInput = { ok: true; input: unknown } | { ok: false; why: string }

/** The tool that a call names: small models write it in another case, or with something of the template that they were trained with. */
export function toolNamed<T extends { name: string }>(tools: readonly T[], name: string): T | undefined {
  return tools.find((each) => each.name === name) ?? tools.find((each) => each.name.toLowerCase() === plainToolName(name))
}

/** A call's arguments against its tool's schema; what is wrong is said so that a model can send it right. */
export function checkInput(schema: InputSchema<unknown>, input: unknown): CheckedInput {
  if ('validate' in schema) return schema.validate(input)
  const declared = declareInput(schema) as Declared
  const understood = understand(input ?? {}, declared)
  const checked = schema.safeParse(understood.input)
  if (checked.success && understood.unknown.length === 0) return { ok: true, input: checked.data }
  const wrong = [...understood.unknown.map((name) => `there is no argument ${name}`), ...(checked.error?.issues.map(describe) ?? [])]
  return { ok: false, why: `the arguments do not fit: ${wrong.slice(0, 5).join('; ')}. They are: ${signature(declared)}.` }
}

/** For the model: JSON Schema, as the provider wants it. */
export function declareInput(schema: InputSchema<unknown>): unknown {
  if ('validate' in schema) return schema.schema
  const known = declarations.get(schema)
  if (known) return known
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  declarations.set(schema, rest)
  return rest
}

const declarations = new WeakMap<object, object>()

function describe(issue: z.core.$ZodIssue): string {
  const where = issue.path.length > 0 ? issue.path.map(String).join('.') : 'the arguments'
  switch (issue.code) {
    case 'invalid_type':
      return `${where} must be ${article(issue.expected)}${issue.input === undefined ? ', and is missing' : ''}`
    case 'unrecognized_keys':
      return `${where} may not have ${issue.keys.join(', ')}`
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
