import { setImmediate as breathe } from 'node:timers/promises'

/** Work that can pause at every `yield`. */
export type Pieces<T> = Generator<void, T>

export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const next = work.next()
    if (next.done) return next.value
  }
}

/** Shorter than a key takes to be shown. */
const PIECE_MS = 6

/** With pauses in which keys are heard and the screen is drawn. Rejects when it is not wanted any more. */
export async function inPieces<T>(work: Pieces<T>, wanted: () => boolean): Promise<T> {
  for (;;) {
    const begun = performance.now()
    while (performance.now() - begun < PIECE_MS) {
      const next = work.next()
      if (next.done) return next.value
    }
    await breathe()
    if (!wanted()) throw new Error('not wanted any more')
  }
}
