import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Blobs } from '../core/ports.ts'
import type { Image } from '../core/record.ts'
import { fitImage, imageKind } from '../os/image.ts'
import { readClipboardImage } from './clipboard.ts'

/** An image for a prompt, as models can be shown it. Undefined: these bytes are none. */
export async function attachImage(bytes: Uint8Array, name: string, blobs: Blobs, signal: AbortSignal): Promise<Image | undefined> {
  const kind = imageKind(bytes)
  if (!kind) return undefined
  const fitted = await fitImage(bytes, kind, signal)
  if (!fitted.ok) throw new Error(`${name}: ${fitted.why}.`)
  return { blob: blobs.put(fitted.bytes), mediaType: fitted.kind.mediaType, name }
}

const NAMED = /(?:^|[\s("'[])@([^\s"'()[\]]+\.(?:png|jpe?g|gif|webp))(?=$|[\s"')\],.;:!?])/giu

/** The images that a prompt names as `@file`. */
export async function namedImages(text: string, cwd: string, blobs: Blobs, signal: AbortSignal): Promise<Image[]> {
  const images: Image[] = []
  for (const path of new Set(Array.from(text.matchAll(NAMED), ([, path = '']) => path))) {
    const file = resolve(cwd, path)
    const image = existsSync(file) ? await attachImage(readFileSync(file), basename(file), blobs, signal) : undefined
    if (image) images.push(image)
  }
  return images
}

export async function clipboardImage(blobs: Blobs, signal: AbortSignal): Promise<Image> {
  const bytes = await readClipboardImage()
  const image = bytes && (await attachImage(bytes, 'clipboard', blobs, signal))
  if (!image) throw new Error('There is no image in the clipboard, or no program here that gives it (wl-paste, xclip, pngpaste).')
  return image
}
