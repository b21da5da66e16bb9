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

export interface ReplyOptions {
  /** The session's id for a call of the provider. */
  idFor: (provider: string) => string
  /** The opaque state of a part. */
  stateOf: (part: Part, sdk: State['sdk'], providerId: string) => Part['opaque']
}

export function createReply({ idFor, stateOf }: ReplyOptions): Reply {
  const growth = createGrowth()
  const reply: Reply = {
    finish: undefined,
    characters: growth.characters,
    add(part) {
      switch (part.type) {
        case 'text-start': case 'reasoning-start':
          return growth.start(kindOf(part.type), part.id, '', part.providerMetadata)
        case 'text-delta': case 'reasoning-delta':
          return growth.grow(kindOf(part.type), part.id, part.delta, part.providerMetadata)
        case 'text-end': case 'reasoning-end':
          return growth.close(kindOf(part.type), part.id, part.providerMetadata)
        case 'tool-input-start':
          return growth.start('call', part.id, part.toolName, part.providerMetadata)
        case 'tool-input-delta':
          return growth.grow('call', part.id, part.delta, part.providerMetadata)
        case 'tool-call':
          return [...growth.start('call', part.toolCallId, part.toolName, undefined), ...growth.close('call', part.toolCallId, part.providerMetadata, part.input)]
        case 'finish':
          reply.finish = part
          return []
        default:
          return []
      }
    },
    parts: () => growth.all().map((growing): Part => {
      const part = toPart(growing, idFor)
      const opaque = stateOf(part, growing.sdk, growing.id)
      return opaque ? { ...part, opaque } : part
    }),
  }
  return reply
}

type Block = 'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
const kindOf = (type: Block): 'text' | 'reasoning' => (type.startsWith('text') ? 'text' : 'reasoning')

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

/** The parts while they come in: several may be open at once, and one that stays empty never gets a place. */
function createGrowth() {
  const parts: Growing[] = []
  const open = new Map<string, Growing>()
  let placed = 0
  let written = 0

  const find = (kind: Delta['kind'], id: string): Growing | undefined => open.get(`${kind}:${id}`)
  const add = (kind: Delta['kind'], id: string, name: string): Growing => {
    const growing: Growing = { kind, at: undefined, id, name, text: '', whole: false, sdk: undefined }
    open.set(`${kind}:${id}`, growing)
    parts.push(growing)
    return growing
  }
  const extend = (growing: Growing, text: string): Delta[] => {
    if (text === '' && (growing.kind !== 'call' || growing.at !== undefined)) return []
    const first = growing.at === undefined
    const part = (growing.at ??= placed++)
    const offset = growing.text.length
    growing.text += text
    written += text.length
    return [{ type: 'delta', part, kind: growing.kind, offset, text, ...(first && growing.kind === 'call' ? { name: growing.name } : {}) }]
  }

  return {
    characters: () => written,
    all: () => parts.filter(({ at }) => at !== undefined).toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)),
    /** A call shows at once, by its name. One that is open already goes on. */
    start(kind: Delta['kind'], id: string, name: string, sdk: State['sdk']): Delta[] {
      const growing = (kind === 'call' ? find(kind, id) : undefined) ?? add(kind, id, name)
      growing.sdk = mergeState(growing.sdk, sdk)
      return kind === 'call' ? extend(growing, '') : []
    },
    grow(kind: Delta['kind'], id: string, text: string, sdk: State['sdk']): Delta[] {
      const growing = find(kind, id) ?? add(kind, id, '')
      growing.sdk = mergeState(growing.sdk, sdk)
      return extend(growing, text)
    },
    /** State without text is a part as well: redacted thinking, encrypted reasoning, a signature. The whole text goes before its pieces. */
    close(kind: Delta['kind'], id: string, sdk: State['sdk'], whole?: string): Delta[] {
      const growing = find(kind, id) ?? add(kind, id, '')
      growing.sdk = mergeState(growing.sdk, sdk)
      const deltas = whole !== undefined && growing.text === '' ? extend(growing, whole) : []
      if (whole !== undefined) growing.text = whole
      if (hasState(growing.sdk)) growing.at ??= placed++
      growing.whole = true
      open.delete(`${kind}:${id}`)
      return deltas
    },
  }
}

export const hasState = (sdk: State['sdk']): boolean => sdk !== undefined && Object.values(sdk).some((state) => Object.keys(state).length > 0)

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

function mergeState(state: State['sdk'], more: State['sdk']): State['sdk'] {
  if (!more) return state
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
      if (/length|max.?(output|tokens|new)|context_window/i.test(raw)) return 'length'
      if (/error|fail|abort|cancel|insufficient|unavailable|timeout|overload/i.test(raw)) return 'error'
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

