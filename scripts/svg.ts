import type { IBufferCell, Terminal } from '@xterm/headless'

/** A terminal's visible screen as an SVG: a rectangle a run of background, a text a run of characters, each on its place in the grid. */
export function toSvg(terminal: Terminal, title: string): string {
  const { cols, rows } = terminal
  const [width, height] = [cols * CELL.width + 2 * MARGIN, rows * CELL.height + BAR + MARGIN]
  const out: string[] = []
  for (let y = 0; y < rows; y++) out.push(...drawRow(terminal, y))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>text{font-family:"DejaVu Sans Mono",ui-monospace,Menlo,Consolas,monospace;font-size:${FONT}px;white-space:pre}</style>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${['#ff5f57', '#febc2e', '#28c840'].map((colour, index) => `<circle cx="${18 + index * 18}" cy="16" r="5" fill="${colour}"/>`).join('')}
<text x="${width / 2}" y="20" fill="#8b949e" text-anchor="middle">${escape(title)}</text>
${out.join('\n')}
</svg>
`
}

const FONT = 14
/** DejaVu Sans Mono: 0.602 em wide; rows as high as the font, so that box characters meet. */
const CELL = { width: 8.43, height: 17 }
const MARGIN = 14
const BAR = 36
const BACKGROUND = '#16181d'
const TEXT = '#d5d9e0'
const COLOURS = ['#2b2f37', '#f08f8f', '#8fd48f', '#e8c56c', '#7fb8f0', '#c9a0f0', '#7fc8e8', '#d5d9e0', '#6e7681', '#ffa8a8', '#a8e6a8', '#f5d98f', '#a5d0ff', '#dcc0ff', '#a8e2f5', '#ffffff']

interface Look {
  text: string
  fill: string
  back: string | null
  extra: string
}

function drawRow(terminal: Terminal, y: number): string[] {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.viewportY + y)
  const runs: { from: number; cells: number; look: Look }[] = []
  for (let x = 0; x < terminal.cols; x++) {
    const cell = line?.getCell(x)
    if (!cell || cell.getWidth() === 0) continue
    const look = lookOf(cell)
    const last = runs.at(-1)
    const joins = last && last.look.fill === look.fill && last.look.back === look.back && last.look.extra === look.extra && /^[\x20-\x7e]+$/.test(last.look.text + look.text)
    if (joins && last.from + last.cells === x) [last.look.text, last.cells] = [last.look.text + look.text, last.cells + cell.getWidth()]
    else runs.push({ from: x, cells: cell.getWidth(), look })
  }
  const top = BAR + y * CELL.height
  const place = (column: number): string => (MARGIN + column * CELL.width).toFixed(2)
  const size = (cells: number): string => (cells * CELL.width).toFixed(2)
  return [
    ...runs.filter(({ look }) => look.back).map(({ from, cells, look }) => `<rect x="${place(from)}" y="${top}" width="${size(cells)}" height="${CELL.height}" fill="${look.back}"/>`),
    ...runs.filter(({ look }) => look.text.trim() !== '').map(({ from, look }) => {
      const text = look.text.trimEnd()
      return `<text x="${place(from)}" y="${top + 13}" fill="${look.fill}"${look.extra} textLength="${size(text.length === 1 ? 1 : text.length)}" xml:space="preserve">${escape(text)}</text>`
    }),
  ]
}

function lookOf(cell: IBufferCell): Look {
  const inverse = cell.isInverse() !== 0
  const front = colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor())
  const back = colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor())
  const extra = [cell.isBold() ? ' font-weight="bold"' : '', cell.isItalic() ? ' font-style="italic"' : '', cell.isDim() ? ' opacity="0.6"' : '', decoration(cell)].join('')
  return { text: cell.getChars() || ' ', fill: (inverse ? back ?? BACKGROUND : front) ?? TEXT, back: inverse ? front ?? TEXT : back, extra }
}

const decoration = (cell: IBufferCell): string => (cell.isUnderline() ? ' text-decoration="underline"' : cell.isStrikethrough() ? ' text-decoration="line-through"' : '')

function colourOf(rgb: boolean, palette: boolean, value: number): string | null {
  if (rgb) return `#${value.toString(16).padStart(6, '0')}`
  if (!palette) return null
  if (value < 16) return COLOURS[value] ?? TEXT
  if (value >= 232) return `#${(8 + (value - 232) * 10).toString(16).padStart(2, '0').repeat(3)}`
  const step = (part: number): string => (part === 0 ? 0 : 55 + part * 40).toString(16).padStart(2, '0')
  return `#${step(Math.floor((value - 16) / 36))}${step(Math.floor((value - 16) / 6) % 6)}${step((value - 16) % 6)}`
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char)
