import type { Exchange } from './exchange.ts'
import type { Frame } from './frames.ts'
import { isObject } from './server-error.ts'

/**
 * Events of Responses with what some servers leave out. The id of a call may come with the finished call only: until then the
 * call is held back, for the SDK would take it for no event at all.
 */
export function repairResponseEvent(frame: Frame, exchange: Exchange): Frame[] {
  if (!frame.data.includes('function_call')) return [frame]
  let event: unknown
  try {
    event = JSON.parse(frame.data)
  } catch {
    return [frame]
  }
  if (!isObject(event)) return [frame]
  const held = (exchange.extra['held'] ??= new Set()) as Set<unknown>
  const { type, output_index: index, item } = event
  if (type === 'response.function_call_arguments.delta' || type === 'response.function_call_arguments.done') return held.has(index) ? [] : [frame]
  if (!isObject(item) || item['type'] !== 'function_call') return [frame]
  if (type === 'response.output_item.added' && !isText(item['call_id'])) {
    held.add(index)
    return []
  }
  const whole = { id: `fc_${String(index)}`, ...item, call_id: isText(item['call_id']) ? item['call_id'] : isText(item['id']) ? item['id'] : `call_${String(index)}`, arguments: isObject(item['arguments']) ? JSON.stringify(item['arguments']) : (item['arguments'] ?? '') }
  const send = (type: string, fields: object): Frame => ({ event: type, data: JSON.stringify({ ...event, type, item: { ...whole, ...fields } }) })
  if (type !== 'response.output_item.done') return [send('response.output_item.added', {})]
  const done = send(type, { status: isText(item['status']) ? item['status'] : 'completed' })
  return held.delete(index) ? [send('response.output_item.added', { arguments: '' }), done] : [done]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
