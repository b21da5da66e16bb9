const { Segmenter: Made } = Intl

/**
 * Code units that never join a neighbour into one grapheme: printable ASCII, Latin, punctuation, arrows, mathematics, boxes and blocks,
 * Han, and what ends lines and begins escape sequences. Without CR, which joins an LF.
 */
const ALONE = /^[\t\n\x1b\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u3400-\u4dbf\u4e00-\u9fff]*$/

type Options = ConstructorParameters<typeof Intl.Segmenter>
type Segments = Pick<Intl.Segments, 'containing'> & Iterable<Intl.SegmentData>

/**
 * `Intl.Segmenter` for graphemes, made when a text needs it: to make the first one takes a quarter of the time in which Node
 * starts. The build puts it in the place of those that Ink and its like make while they are loaded (scripts/quick-start.js).
 */
export class Segmenter {
  private readonly options: Options
  private made: Intl.Segmenter | null = null

  constructor(...options: Options) {
    this.options = options
  }

  segment(text: string): Segments {
    if (ALONE.test(text)) return alone(text)
    this.made ??= new Made(...this.options)
    return this.made.segment(text)
  }
}

function alone(input: string): Segments {
  const at = (index: number): Intl.SegmentData => ({ segment: input.charAt(index), index, input })
  return {
    containing: (index = 0) => (index >= 0 && index < input.length ? at(Math.floor(index)) : undefined),
    *[Symbol.iterator]() {
      for (let index = 0; index < input.length; index++) yield at(index)
    },
  }
}
