import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Delta } from '../core/ports.ts'
import type { Part, Stop, Usage } from '../core/record.ts'
import { parseArguments } from './arguments.ts'
import type { State } from './protocol.ts'

export type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>

/** A reply as it grows. */
export interface Reply {
  /** The deltas that one part of the stream gives. */
  add(part: LanguageModelV4StreamPart): Delta[]
  finish: Finish | undefined
  /** All parts so far. A call whose arguments are not whole yet is invalid. */
  parts(): Part[]
  /** Length of what the model has written, for an estimate. */
  characters(): number
}

interface Growing {
  kind: Delta['kind']
  /** Its place in the reply; undefined while there is nothing of it. */
  at: number | undefined
  id: string
  name: string
  text: string
  whole: boolean
  sdk: State['sdk']
}

export interface ReplyOptions {
  /** The session's id for a call of the provider. */
  idFor: (provider: string) => string
  /** The opaque state of a part. */
  stateOf: (part: Part, sdk: State['sdk'], providerId: string) => Part['opaque']
}

export function createReply({ idFor, stateOf }: ReplyOptions): Reply {
  const all: Growing[] = []
  const open = new Map<string, Growing>()
  let placed = 0
  let written = 0

  const start = (kind: Delta['kind'], key: string, name = ''): Growing => {
    const growing: Growing = { kind, at: undefined, id: key, name, text: '', whole: false, sdk: undefined }
    open.set(`${kind}:${key}`, growing)
    all.push(growing)
    return growing
  }
  const get = (kind: Delta['kind'], key: string): Growing => open.get(`${kind}:${key}`) ?? start(kind, key)
  const grow = (growing: Growing, text: string): Delta[] => {
    if (text === '' && (growing.kind !== 'call' || growing.at !== undefined)) return []
    const first = growing.at === undefined
    const part = (growing.at ??= placed++)
    const offset = growing.text.length
    growing.text += text
    written += text.length
    return [{ type: 'delta', part, kind: growing.kind, offset, text, ...(first && growing.kind === 'call' ? { name: growing.name } : {}) }]
  }
  const note = (growing: Growing, metadata: State['sdk']): void => {
    if (metadata) growing.sdk = mergeState(growing.sdk, metadata)
  }
  /** State without text is a part as well: redacted thinking, encrypted reasoning, a signature. */
  const close = (kind: Delta['kind'], key: string): void => {
    const growing = get(kind, key)
    if (growing.at === undefined && growing.sdk && Object.values(growing.sdk).some((state) => Object.keys(state).length > 0)) growing.at = placed++
    growing.whole = true
    open.delete(`${kind}:${key}`)
  }

  const reply: Reply = {
    finish: undefined,
    characters: () => written,
    add(part) {
      switch (part.type) {
        case 'text-start': case 'reasoning-start': {
          note(start(part.type === 'text-start' ? 'text' : 'reasoning', part.id), part.providerMetadata)
          return []
        }
        case 'text-delta': case 'reasoning-delta': {
          const growing = get(part.type === 'text-delta' ? 'text' : 'reasoning', part.id)
          note(growing, part.providerMetadata)
          return grow(growing, part.delta)
        }
        case 'text-end': case 'reasoning-end': {
          const kind = part.type === 'text-end' ? 'text' : 'reasoning'
          note(get(kind, part.id), part.providerMetadata)
          close(kind, part.id)
          return []
        }
        case 'tool-input-start': {
          const growing = start('call', part.id, part.toolName)
          note(growing, part.providerMetadata)
          return grow(growing, '')
        }
        case 'tool-input-delta': {
          const growing = get('call', part.id)
          note(growing, part.providerMetadata)
          return grow(growing, part.delta)
        }
        case 'tool-call': {
          const growing = open.get(`call:${part.toolCallId}`) ?? start('call', part.toolCallId, part.toolName)
          note(growing, part.providerMetadata)
          const deltas = growing.at === undefined ? grow(growing, part.input) : []
          growing.text = part.input
          close('call', part.toolCallId)
          return deltas
        }
        case 'finish':
          reply.finish = part
          return []
        default:
          return []
      }
    },
    parts() {
      return all
        .filter((growing) => growing.at !== undefined)
        .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
        .map((growing): Part => {
          const part = toPart(growing, idFor)
          const opaque = stateOf(part, growing.sdk, growing.id)
          return opaque ? { ...part, opaque } : part
        })
    },
  }
  return reply
}

function toPart(growing: Growing, idFor: (id: string) => string): Part {
  switch (growing.kind) {
    case 'text': case 'reasoning':
      return { type: growing.kind, text: growing.text }
    case 'call': {
      const call = { type: 'call' as const, id: idFor(growing.id), name: growing.name }
      return growing.whole ? { ...call, ...parseArguments(growing.text) } : { ...call, input: {}, invalid: 'the reply ended before its arguments were complete' }
    }
  }
}

function mergeState(state: State['sdk'], more: NonNullable<State['sdk']>): State['sdk'] {
  const merged = { ...state }
  for (const [namespace, values] of Object.entries(more)) merged[namespace] = { ...merged[namespace], ...values }
  return merged
}

export function stopOf({ finishReason: { unified, raw = '' } }: Finish, hasCalls: boolean): Stop {
  switch (unified) {
    case 'stop': case 'tool-calls':
      return hasCalls ? 'calls' : 'end'
    case 'length':
      return 'length'
    case 'content-filter':
      return 'filter'
    case 'error': case 'interrupted':
      return 'error'
    case 'other':
      if (/length|max.?(output|tokens|new)/i.test(raw)) return 'length'
      if (/filter|safety|refus|block|recitation|prohibited|spii/i.test(raw)) return 'filter'
      return hasCalls ? 'calls' : 'end'
  }
}

/** Never NaN: what the provider did not count is counted by us, at four characters a token, and marked so. */
export function usageOf(usage: LanguageModelV4Usage | undefined, sentBytes: number, characters: number): Usage {
  const input = count(usage?.inputTokens.total)
  const output = count(usage?.outputTokens.total)
  if (input === undefined || input === 0) return { input: Math.ceil(sentBytes / 4), output: output ? output : Math.ceil(characters / 4), estimated: true }
  const cacheRead = count(usage?.inputTokens.cacheRead)
  const cacheWrite = count(usage?.inputTokens.cacheWrite)
  const reasoning = count(usage?.outputTokens.reasoning)
  return {
    input,
    output: output ?? Math.ceil(characters / 4),
    ...(cacheRead ? { cacheRead } : {}),
    ...(cacheWrite ? { cacheWrite } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(output === undefined ? { estimated: true } : {}),
  }
}

const count = (value: number | undefined): number | undefined => (value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined)

