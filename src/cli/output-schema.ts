import * as z from 'zod'
import { readFileArgument } from './configure.ts'
import { UsageError } from './options.ts'

/** `--output-schema`: whether a final answer is JSON of this JSON Schema, and if not what is wrong with it. */
export function readSchema(file: string, cwd: string): (text: string) => string | null {
  let schema: z.ZodType
  try {
    schema = z.fromJSONSchema(JSON.parse(readFileArgument('--output-schema', file, cwd)) as Parameters<typeof z.fromJSONSchema>[0])
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--output-schema: ${file} is not a JSON Schema (${(error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ')})`)
  }
  return (text) => {
    try {
      const checked = schema.safeParse(JSON.parse(text))
      return checked.success ? null : `The answer does not fit ${file}: ${z.prettifyError(checked.error)}`
    } catch {
      return `The answer is not JSON, as ${file} wants it.`
    }
  }
}
