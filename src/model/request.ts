import { createHash } from 'node:crypto'
import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import type { Message, ModelRequest } from '../core/ports.ts'
import type { CallPart, Image, Part } from '../core/record.ts'
import type { Dialect, State } from './protocol.ts'
import { isObject } from './server-error.ts'

export interface Wording {
  dialect: Dialect
  /** Whose opaque state goes back. */
  by: string
  /** Whether the model can see images. */
  images: boolean
  /** The bytes of a stored image. */
  blob: (sha256: string) => Uint8Array | undefined
}

/**
 * The neutral request as the SDK takes it, such that a strict provider accepts it: roles alternate, no part is empty, ids
 * and names have the form that it wants, state of other providers stays out. The same beginning gives the same bytes.
 */
export function toCall(request: ModelRequest, wording: Wording): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  const prompt: LanguageModelV4Prompt = []
  const ids = createIds(wording)
  for (const message of request.messages) {
    if (prompt.length === 0 && message.role !== 'user') pushUser(prompt, [{ type: 'text', text: '(the conversation goes on)' }])
    append(prompt, message, wording, ids)
  }
  if (request.system.trim() !== '') prompt.unshift({ role: 'system', content: request.system })
  const tools = request.tools.map(({ name, about, input }) => ({
    type: 'function' as const,
    name,
    ...(about === undefined ? {} : { description: about }),
    ...(wording.dialect.declaresLoose ? { strict: false } : {}),
    inputSchema: isObject(input) ? { type: 'object' as const, ...input } : { type: 'object' as const, properties: {} },
  }))
  return { prompt, ...(tools.length > 0 ? { tools } : {}) }
}

function append(prompt: LanguageModelV4Prompt, message: Message, wording: Wording, ids: Ids): void {
  switch (message.role) {
    case 'user': {
      if (prompt.at(-1)?.role === 'tool' && !wording.dialect.userAfterResults) prompt.push({ role: 'assistant', content: [{ type: 'text', text: 'I have the results.' }] })
      const content = message.parts.flatMap((part) => (part.type === 'image' ? picture(part.image, wording) : part.text.trim() === '' ? [] : [{ type: 'text' as const, text: part.text }]))
      return pushUser(prompt, content.length > 0 ? content : [{ type: 'text', text: '(empty)' }])
    }
    case 'assistant':
      return pushReply(prompt, message.parts, wording, ids)
    case 'tool': {
      const last = prompt.at(-1)
      const results = message.results.map((result) => toolResult(result, wording, ids))
      if (last?.role === 'tool') last.content.push(...results)
      else prompt.push({ role: 'tool', content: results })
      if (wording.dialect.imagesInResults) return
      const images = message.results.flatMap(({ images = [], name }) => images.flatMap((image) => [{ type: 'text' as const, text: `Image from ${name}:` }, { type: 'image' as const, image }]))
      if (images.length > 0) append(prompt, { role: 'user', parts: images }, wording, ids)
    }
  }
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content']
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

function pushUser(prompt: LanguageModelV4Prompt, content: UserContent): void {
  const last = prompt.at(-1)
  if (last?.role === 'user') last.content.push(...content)
  else prompt.push({ role: 'user', content })
}

function pushReply(prompt: LanguageModelV4Prompt, parts: readonly Part[], { dialect, by }: Wording, ids: Ids): void {
  const hasCalls = parts.some((part) => part.type === 'call')
  const content: AssistantContent = []
  const fields: NonNullable<State['sdk']>[string] = {}
  ids.nextReply()
  for (const part of parts) {
    const state = part.opaque?.by === by ? (part.opaque.data as State) : undefined
    const options = state?.sdk ? { providerOptions: state.sdk } : {}
    if (part.type === 'call') content.push({ type: 'tool-call', toolCallId: ids.ofCall(part, state?.id), toolName: safeName(part.name), input: isObject(part.input) ? part.input : {}, ...options })
    else if (part.type === 'text' && (part.text.trim() !== '' || state?.sdk)) content.push({ type: 'text', text: part.text, ...options })
    else if (part.type === 'reasoning' && state) {
      const back = dialect.reasoning(part, state, hasCalls)
      if (back === 'part') content.push({ type: 'reasoning', text: part.text, ...options })
      else Object.assign(fields, back)
    }
  }
  // A reply that was cut off may end in reasoning, which no provider takes at the end.
  while (content.at(-1)?.type === 'reasoning') content.pop()
  if (content.length > 0) prompt.push({ role: 'assistant', content, ...(Object.keys(fields).length > 0 ? { providerOptions: { openaiCompatible: fields } } : {}) })
}

function toolResult(result: Extract<Message, { role: 'tool' }>['results'][number], wording: Wording, ids: Ids): LanguageModelV4ToolResultPart {
  const text = result.text.trim() === '' ? '(no output)' : result.text
  const images = wording.dialect.imagesInResults ? (result.images ?? []).flatMap((image) => picture(image, wording)) : []
  return {
    type: 'tool-result',
    toolCallId: ids.ofResult(result.call),
    toolName: safeName(result.name),
    output: images.length > 0 ? { type: 'content', value: [{ type: 'text', text }, ...images] } : { type: result.failed && wording.dialect.marksFailure ? 'error-text' : 'text', value: text },
  }
}

type Picture = { type: 'text'; text: string } | { type: 'file'; data: { type: 'data'; data: Uint8Array }; mediaType: string }

/** The image, or a note in its place: a model that cannot see must not get one, and must not be left guessing. */
function picture(image: Image, wording: Wording): Picture[] {
  const title = image.name ?? image.mediaType
  if (!wording.images) return [{ type: 'text', text: `[Image ${title} is left out: this model cannot see images.]` }]
  const data = wording.blob(image.blob.sha256)
  return data ? [{ type: 'file', data: { type: 'data', data }, mediaType: image.mediaType }] : [{ type: 'text', text: `[Image ${title} is left out: its file is missing.]` }]
}

/** A model may invent a name that no provider takes back. */
const safeName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

interface Ids {
  nextReply(): void
  ofCall(part: CallPart, original: string | undefined): string
  ofResult(id: string): string
}

/**
 * Ids on the wire: the provider's own where it made the call, else the session's, else one in the form that it wants. One
 * to one within the request, the same in every request that begins alike; results are paired within their own reply.
 */
function createIds({ dialect }: Wording): Ids {
  const used = new Set<string>()
  let open = new Map<string, string[]>()
  const mint = (id: string): string => {
    for (let attempt = 0; ; attempt++) {
      const digits = createHash('sha256').update(`${id}\n${attempt}`).digest('hex')
      const made = `${dialect.mint.prefix}${digits}`.slice(0, dialect.mint.length)
      if (!used.has(made)) return made
    }
  }
  return {
    nextReply() {
      open = new Map()
    },
    ofCall(part, original) {
      const id = [original, part.id].find((candidate) => candidate !== undefined && dialect.id.test(candidate) && !used.has(candidate)) ?? mint(part.id)
      used.add(id)
      open.set(part.id, [...(open.get(part.id) ?? []), id])
      return id
    },
    ofResult: (call) => open.get(call)?.shift() ?? (dialect.id.test(call) ? call : mint(call)),
  }
}
