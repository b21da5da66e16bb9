import jpeg from 'jpeg-js'
import { parentPort } from 'node:worker_threads'
import { PNG } from 'pngjs'
import type { ImageKind } from './image.ts'

/** Unpacking and averaging millions of pixels, in a thread of its own. */
export interface ShrinkRequest {
  bytes: Uint8Array
  mediaType: 'image/png' | 'image/jpeg'
  /** Pixels at most on the longer side, and bytes at most. */
  side: number
  most: number
}
export type Fitted = { bytes: Uint8Array; kind: ImageKind } | { why: string }

interface Pixels {
  width: number
  height: number
  /** Red, green, blue and alpha, a byte each. */
  data: Uint8Array
  /** Holds which side is up, so it goes along. */
  exifBuffer?: Uint8Array
}

parentPort?.once('message', (request: ShrinkRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(shrink(request))
})

function shrink({ bytes, mediaType, side, most }: ShrinkRequest): Fitted {
  try {
    const picture: Pixels = mediaType === 'image/png' ? PNG.sync.read(Buffer.from(bytes)) : jpeg.decode(bytes, { useTArray: true, maxMemoryUsageInMB: 1_024 })
    for (let longest = Math.min(side, Math.max(picture.width, picture.height)); longest >= 200; longest = Math.floor(longest * 0.7)) {
      const small = scale(picture, longest / Math.max(picture.width, picture.height))
      for (const kind of mediaType === 'image/png' ? (['image/png', 'image/jpeg'] as const) : (['image/jpeg'] as const)) {
        const packed = kind === 'image/png' ? PNG.sync.write(asPng(small)) : jpeg.encode(flat(small, picture.exifBuffer), 85).data
        if (packed.length <= most) return { bytes: packed, kind: { mediaType: kind, width: small.width, height: small.height } }
      }
    }
    return { why: 'it stays too large' }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

/** Each new pixel is the average of those it covers, weighted by how much they can be seen. */
function scale({ width, height, data }: Pixels, factor: number): Pixels {
  const to = { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) }
  const scaled = new Uint8Array(to.width * to.height * 4)
  for (let y = 0; y < to.height; y++) {
    const [top, bottom] = covered(y, to.height, height)
    for (let x = 0; x < to.width; x++) {
      const [left, right] = covered(x, to.width, width)
      let [red, green, blue, alpha] = [0, 0, 0, 0]
      for (let row = top; row < bottom; row++) {
        for (let at = (row * width + left) * 4; at < (row * width + right) * 4; at += 4) {
          const seen = data[at + 3] ?? 0
          red += (data[at] ?? 0) * seen
          green += (data[at + 1] ?? 0) * seen
          blue += (data[at + 2] ?? 0) * seen
          alpha += seen
        }
      }
      const weight = alpha === 0 ? 1 : alpha
      const at = (y * to.width + x) * 4
      scaled[at] = Math.round(red / weight)
      scaled[at + 1] = Math.round(green / weight)
      scaled[at + 2] = Math.round(blue / weight)
      scaled[at + 3] = Math.round(alpha / ((bottom - top) * (right - left)))
    }
  }
  return { ...to, data: scaled }
}

function covered(index: number, to: number, from: number): [number, number] {
  const first = Math.floor((index * from) / to)
  return [first, Math.max(first + 1, Math.floor(((index + 1) * from) / to))]
}

function asPng({ width, height, data }: Pixels): PNG {
  const png = new PNG({ width, height })
  png.data = Buffer.from(data)
  return png
}

/** JPEG knows no transparency: on white. */
function flat({ width, height, data }: Pixels, exifBuffer?: Uint8Array): Pixels {
  const flattened = data.map((value, at) => {
    const seen = at % 4 === 3 ? 255 : (data[at - (at % 4) + 3] ?? 255)
    return at % 4 === 3 ? 255 : Math.round((value * seen + 255 * (255 - seen)) / 255)
  })
  return { width, height, data: flattened, ...(exifBuffer ? { exifBuffer } : {}) }
}
