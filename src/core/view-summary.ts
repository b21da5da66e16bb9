import { argumentOf, plainToolName } from './tool-arguments.ts'
import { oneLine } from './view-excerpt.ts'
import type { View, Waiting } from './view-state.ts'
import { visible } from './visible.ts'

/** A call's arguments in one short line: what a person wants to know of them. */
export function summarize(name: string, input: unknown, root: string | null): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input === undefined ? '' : oneLine(JSON.stringify(input) ?? '')
  const tool = plainToolName(name)
  const known = Object.hasOwn(SUMMARIES, tool) ? SUMMARIES[tool] : undefined
  return oneLine(visible(known?.(withText(input, root)) ?? generic(input)))
}

/** When a waiting text will reach the model. */
export function landing(view: View, input: Waiting): string {
  if (!view.run) return 'with the next run'
  const running = view.live.calls.filter((call) => call.state === 'running').length
  const left = view.live.calls.filter((call) => call.state !== 'ended').length
  switch (input.when) {
    case 'now':
      if (running > 0) return `now: stops the running ${running === 1 ? 'command' : 'commands'}`
      return view.live.request ? 'now: stops the reply' : 'now'
    case 'next':
      if (view.waiting.some((other) => other.when === 'now')) return 'before the request after the next'
      if (left > 0) return `before the next request, after ${left} running ${left === 1 ? 'call' : 'calls'}`
      return view.live.request ? 'before the next request, after this reply' : 'before the next request'
    case 'after': {
      const before = view.waiting.filter((other) => other.when === 'after').indexOf(input)
      return before > 0 ? `when the run ends, after ${before} other${before === 1 ? '' : 's'}` : 'when the run ends'
    }
  }
}

type Fields = (key: string) => string

/** Other tools (MCP) get the generic line. */
const SUMMARIES: Record<string, (field: Fields) => string> = {
  read: (field) => `${field('path')}${field('offset') ? ` from line ${field('offset')}` : ''}`,
  write: (field) => field('path'),
  edit: (field) => field('path'),
  ls: (field) => field('path') || '.',
  find: (field) => `${field('pattern') || field('glob')}${field('path') ? ` in ${field('path')}` : ''}`,
  grep: (field) => `${field('pattern')}${field('glob') ? ` in ${field('glob')}` : ''}${field('path') ? ` in ${field('path')}` : ''}`,
  shell: (field) => `${field('command')}${field('background') === 'true' ? ' (in the background)' : ''}`,
  job: (field) => `${field('op')} ${field('id')}`,
  git: (field) => [field('op'), field('message').split('\n')[0], field('rev'), field('name'), field('path'), field('paths')].filter(Boolean).join(' '),
  todo: () => '',
}

function withText(input: object, root: string | null): Fields {
  return (key) => {
    const value = argumentOf(input, key)
    if (value === undefined || value === null) return ''
    const text = typeof value === 'string' ? value : Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(' ') : JSON.stringify(value)
    return root && root !== '/' && text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text
  }
}

const generic = (input: object): string =>
  Object.entries(input)
    .map(([key, value]) => `${key}: ${cutShort(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`)
    .join(', ')

const cutShort = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)
