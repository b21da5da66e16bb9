import type { Blobs, Here, Output } from '../core/ports.ts'
import { fitImage, imageKind } from '../os/image.ts'
import { size } from './listing.ts'

/** The image for a model that sees them, made smaller where providers would refuse it; null: it is none. */
export async function readImage(bytes: Buffer, shown: string, here: Pick<Here, 'images'>, blobs: Blobs, signal: AbortSignal): Promise<Output | null> {
  const kind = imageKind(bytes)
  if (!kind) return null
  const about = `${shown} is an image (${kind.mediaType.slice(6)}, ${kind.width} x ${kind.height} pixels, ${size(bytes.length)})`
  if (!here.images) return { status: 'ok', text: `${about}. This model is not shown images, so only that can be said of it.` }
  const fitted = await fitImage(bytes, kind, signal)
  if (signal.aborted) return { status: 'interrupted', text: 'Cancelled; nothing was changed.' }
  if (!fitted.ok) return { status: 'failed', text: `${about}. ${fitted.why}. Make it smaller with \`shell\` (for example ImageMagick's \`convert -resize 2000x2000\`, into a temporary file) and read that.` }
  const smaller = fitted.resized ? `, shown at ${fitted.kind.width} x ${fitted.kind.height}` : ''
  return { status: 'ok', text: `${about}${smaller}.`, images: [{ blob: blobs.put(fitted.bytes), mediaType: fitted.kind.mediaType, name: shown }] }
}
