import * as z from 'zod/mini'
import { Choice, Effort, Image, Mode, When } from './record.ts'

/** The run that a command is meant for: when it is no longer the active one, nothing of the command is done. */
const run = z.optional(z.string())

/** All that a front end can say to the agent. `--json-in` reads these, one JSON line each. */
export const Command = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input'), text: z.string(), when: z.optional(When), run, images: z.optional(z.array(Image)) }),
  /** Takes a waiting input back; without `input` the last one. */
  z.object({ type: z.literal('withdraw'), input: z.optional(z.string()), run }),
  z.object({ type: z.literal('interrupt'), run }),
  z.object({
    type: z.literal('decide'), call: z.string(), verdict: z.enum(['allow', 'deny']),
    grant: z.optional(z.enum(['once', 'session', 'project', 'user'])), reason: z.optional(z.string()), run,
  }),
  /** How a run that is paused goes on. */
  z.object({ type: z.literal('choose'), choice: Choice, run }),
  z.object({ type: z.literal('set'), model: z.optional(z.string()), effort: z.optional(Effort), mode: z.optional(Mode), title: z.optional(z.string()), run }),
  z.object({ type: z.literal('compact'), about: z.optional(z.string()), run }),
  /** `anyway`: although records on the way there cannot be read. */
  z.object({ type: z.literal('rewind'), to: z.number(), anyway: z.optional(z.boolean()), run }),
  /** Lets the running command of a call go on as a background job. */
  z.object({ type: z.literal('background'), call: z.optional(z.string()), run }),
  /** A command of the person; with `model` the model is shown it. */
  z.object({ type: z.literal('shell'), command: z.string(), model: z.boolean(), run }),
  /** Runs the configured checks now. */
  z.object({ type: z.literal('check'), run }),
])
export type Command = z.infer<typeof Command>
