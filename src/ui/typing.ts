/** What a burst of typed text means, once its Enters are understood. */
export type Typed = { type: 'text'; text: string } | { type: 'enter' }

/**
 * Tells a pressed Enter from a line end in text that came without paste markers (T11). An Enter that comes with or right
 * after text is held for a moment: if text follows, it was a line end; if not, it was pressed.
 */
export interface Typing {
  text: (text: string, now: number) => Typed[]
  enter: (now: number) => Typed[]
  /** Any other key, or the moment has passed: held Enters were pressed. */
  settle: () => Typed[]
  held: () => boolean
}

/** Longer than the gaps of a pasted burst, shorter than a person notices. */
export const HOLD = 25
const GLUED = 10

export function typing(): Typing {
  let lastText = -Infinity
  let lines = 0

  const settle = (): Typed[] => {
    const pressed: Typed[] = lines > 0 ? [{ type: 'enter' }] : []
    lines = 0
    return pressed
  }
  return {
    text: (text, now) => {
      const unified = text.replace(/\r\n?/g, '\n')
      const body = unified.replace(/\n+$/, '')
      const before = '\n'.repeat(lines)
      lastText = now
      if (body === '') {
        lines += unified.length
        return []
      }
      lines = unified.length - body.length
      return [{ type: 'text', text: before + body }]
    },
    enter: (now) => {
      if (lines === 0 && now - lastText > GLUED) return [{ type: 'enter' }]
      lines++
      return []
    },
    settle,
    held: () => lines > 0,
  }
}
