import { asBuffer } from './encoding.ts'
import type { Fitted } from './image-worker.ts'
import { startWorker } from './worker.ts'

export interface ImageKind {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  width: number
  height: number
}

/** What providers take, and many images of in one request. */
export const MOST_PIXELS_A_SIDE = 2_000
export const MOST_IMAGE_BYTES = 3_500_000
/** More than this is not unpacked: a small file can hold a huge picture. */
const MOST_PIXELS = 64_000_000
const LONGEST_MS = 20_000

/** By the first bytes, whatever its name; null: none of the kinds that models are shown. */
export function imageKind(bytes: Uint8Array): ImageKind | null {
  const buffer = asBuffer(bytes)
  if (buffer.length >= 24 && buffer.readUInt32BE(0) === 0x89504e47) return { mediaType: 'image/png', width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) }
  if (buffer.length >= 10 && buffer.toString('latin1', 0, 4) === 'GIF8') return { mediaType: 'image/gif', width: buffer.readUInt16LE(6), height: buffer.readUInt16LE(8) }
  if (buffer.length >= 4 && buffer.readUInt16BE(0) === 0xffd8) return jpeg(buffer)
  if (buffer.length >= 30 && buffer.toString('latin1', 0, 4) === 'RIFF' && buffer.toString('latin1', 8, 12) === 'WEBP') return webp(buffer)
  return null
}

export type FittedImage = { ok: true; bytes: Uint8Array; kind: ImageKind; resized: boolean } | { ok: false; why: string }

/** The image as models can be shown it: as it is where it is small enough, else made smaller, in a thread of its own. */
export async function fitImage(bytes: Uint8Array, kind: ImageKind, signal: AbortSignal): Promise<FittedImage> {
  if (Math.max(kind.width, kind.height) <= MOST_PIXELS_A_SIDE && bytes.length <= MOST_IMAGE_BYTES) return { ok: true, bytes, kind, resized: false }
  const size = `It has ${kind.width} x ${kind.height} pixels and ${Math.ceil(bytes.length / 1024)} KB, more than models are shown`
  if (kind.mediaType === 'image/gif' || kind.mediaType === 'image/webp') return { ok: false, why: `${size}, and only PNG and JPEG can be made smaller here` }
  if (kind.width * kind.height > MOST_PIXELS) return { ok: false, why: `${size} or can be unpacked here` }
  const fitted = await shrink(bytes, kind.mediaType, signal)
  return 'why' in fitted ? { ok: false, why: `${size}, and it could not be made smaller: ${fitted.why}` } : { ok: true, bytes: fitted.bytes, kind: fitted.kind, resized: true }
}

function shrink(bytes: Uint8Array, mediaType: 'image/png' | 'image/jpeg', signal: AbortSignal): Promise<Fitted> {
  const worker = startWorker('image-worker')
  return new Promise<Fitted>((resolve) => {
    const tooLong = setTimeout(() => resolve({ why: 'it took too long' }), LONGEST_MS)
    signal.addEventListener('abort', () => resolve({ why: 'cancelled' }), { once: true })
    worker.once('error', (error) => resolve({ why: error instanceof Error ? error.message : String(error) }))
    worker.once('message', (fitted: Fitted) => resolve(fitted))
    worker.once('exit', () => clearTimeout(tooLong))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ bytes, mediaType, side: MOST_PIXELS_A_SIDE, most: MOST_IMAGE_BYTES })
  }).finally(() => void worker.terminate())
}

/** The size is in the first frame header, after any number of other segments. */
function jpeg(buffer: Buffer): ImageKind | null {
  for (let at = 2; at + 9 < buffer.length; ) {
    if (buffer[at] !== 0xff) return null
    const marker = buffer[at + 1] ?? 0
    if (marker === 0xff) at++
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) return { mediaType: 'image/jpeg', width: buffer.readUInt16BE(at + 7), height: buffer.readUInt16BE(at + 5) }
    else at += 2 + buffer.readUInt16BE(at + 2)
  }
  return null
}

function webp(buffer: Buffer): ImageKind | null {
  const mediaType = 'image/webp'
  switch (buffer.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { mediaType, width: buffer.readUInt16LE(26) & 0x3fff, height: buffer.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = buffer.readUInt32LE(21)
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { mediaType, width: buffer.readUIntLE(24, 3) + 1, height: buffer.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}
