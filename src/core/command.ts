import * as z from 'zod/mini'
import { Effort, Image, Mode, When } from './record.ts'

/** All that a front end can say to the agent. `--json-in` reads these, one JSON line each. */
export const Command = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input'), text: z.string(), when: z.optional(When), run: z.optional(z.string()), images: z.optional(z.array(Image)) }),
  /** Takes a waiting input back; without `input` the last one. */
  z.object({ type: z.literal('withdraw'), input: z.optional(z.string()), run: z.optional(z.string()) }),
  z.object({ type: z.literal('interrupt'), run: z.optional(z.string()) }),
  z.object({
    type: z.literal('decide'), call: z.string(), verdict: z.enum(['allow', 'deny']),
    grant: z.optional(z.enum(['once', 'session', 'project', 'user'])), reason: z.optional(z.string()), run: z.optional(z.string()),
  }),
  z.object({ type: z.literal('set'), model: z.optional(z.string()), effort: z.optional(Effort), mode: z.optional(Mode), title: z.optional(z.string()) }),
  z.object({ type: z.literal('compact'), about: z.optional(z.string()) }),
  z.object({ type: z.literal('rewind'), to: z.number() }),
  /** Lets the running command of a call go on as a background job. */
  z.object({ type: z.literal('background'), call: z.optional(z.string()) }),
  /** A command of the person; with `model` the model is shown it. */
  z.object({ type: z.literal('shell'), command: z.string(), model: z.boolean() }),
  /** Runs the configured checks now. */
  z.object({ type: z.literal('check') }),
])
export type Command = z.infer<typeof Command>
