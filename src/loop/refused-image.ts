import type { Fault, RecordOf } from '../core/record.ts'
import type { Work } from './work.ts'

/** A server that says so may mean any image that it was sent, and refuses each later request for the same one (X12). */
const ABOUT_IMAGES = /\bimages?\b|image_url|\bpixels?\b|\bpictures?\b|vision|multimodal/i

/**
 * Leaves the images that the provider refused out of what it is sent, with a note in their place: those that came since its last good reply,
 * else all. The records stay. False: the fault is not about images, or there are none to leave out.
 */
export function leaveOutImages({ ledger }: Work, fault: Fault): boolean {
  if ((fault.kind !== 'bad-request' && fault.kind !== 'not-found') || !ABOUT_IMAGES.test(fault.message)) return false
  const { path } = ledger
  const omitted = new Set(path.flatMap((record) => (record.type === 'omit' ? [record.record] : [])))
  const shown = path.filter((record): record is RecordOf<'result'> | RecordOf<'input'> => (record.type === 'result' || record.type === 'input') && (record.images?.length ?? 0) > 0 && !omitted.has(record.seq))
  const good = path.findLast((record) => record.type === 'reply' && record.stop !== 'error')?.seq ?? -1
  const newest = shown.filter(({ seq }) => seq > good)
  const out = newest.length > 0 ? newest : shown
  if (out.length === 0) return false
  ledger.append(...out.map(({ seq, text }) => ({ type: 'omit' as const, record: seq, text: `${text}\n\n[The image is left out: the provider did not accept it (${fault.message})]` })))
  return true
}
