const START = '\x1b[200~'
const END = '\x1b[201~'

/** Chunks from a terminal in, chunks for Ink out: a paste always as one whole, however it came. */
export interface PasteGuard {
  push: (chunk: string) => string[]
  /** Nothing came for a while: what is held goes out, a paste without its end marker as if it had one. */
  flush: () => string[]
  /** How long to wait for more before `flush`; null: nothing is held. */
  patience: () => number | null
}

/** A terminal that stops in the middle of a paste for this long has forgotten the end marker (T12). */
const PASTE_PATIENCE = 500
/** A lone Esc could be the beginning of a start marker. */
const MARKER_PATIENCE = 15

export function pasteGuard(): PasteGuard {
  /** Pieces of an open paste; null: none is open. */
  let open: string[] | null = null
  /** The end of the last piece, in which an end marker may have begun. */
  let tail = ''
  /** A beginning of a start marker. */
  let held = ''

  function push(chunk: string): string[] {
    if (open && chunk === '\x03') return [...flush(), chunk]
    if (open) return pasted(chunk)
    const text = held + chunk
    held = ''
    const start = text.indexOf(START)
    const end = text.indexOf(END)
    // The rest of a paste that was given up: it is no typing either.
    if (end >= 0 && (start < 0 || end < start)) return [...whole(text.slice(0, end)), ...(end + END.length < text.length ? push(text.slice(end + END.length)) : [])]
    if (start < 0) {
      held = begunMarker(text)
      return some(text.slice(0, text.length - held.length))
    }
    open = []
    tail = ''
    return [...some(text.slice(0, start)), ...pasted(text.slice(start + START.length))]
  }

  function pasted(chunk: string): string[] {
    const seam = tail + chunk
    const end = seam.indexOf(END)
    if (end < 0) {
      open?.push(chunk)
      tail = seam.slice(1 - END.length)
      return []
    }
    const content = (open ?? []).join('') + chunk
    const length = content.length - seam.length + end
    open = null
    tail = ''
    const rest = content.slice(length + END.length)
    return [...whole(content.slice(0, length)), ...(rest === '' ? [] : push(rest))]
  }

  function flush(): string[] {
    const out = open ? whole(open.join('')) : some(held)
    open = null
    held = ''
    tail = ''
    return out
  }

  return { push, flush, patience: () => (open ? PASTE_PATIENCE : held === '' ? null : MARKER_PATIENCE) }
}

const some = (text: string): string[] => (text === '' ? [] : [text])
const whole = (content: string): string[] => (content === '' ? [] : [START + content + END])

function begunMarker(text: string): string {
  for (let length = START.length - 1; length > 0; length--) if (text.endsWith(START.slice(0, length))) return START.slice(0, length)
  return ''
}
