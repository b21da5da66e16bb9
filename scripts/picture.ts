// Writes the README's pictures from the real screen: runs the built program in a pty and draws what its terminal shows.
// `npm run -s build && node scripts/picture.ts [name...]`; into fixtures/pictures, an SVG and a PNG each.
import { Resvg } from '@resvg/resvg-js'
// oxlint-disable-next-line import/default -- it is CommonJS: Node gives it a default
import unicode from '@xterm/addon-unicode11'
import xterm from '@xterm/headless'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch, type Pty } from '../test/support/pty.ts'
import { toSvg } from './svg.ts'

interface Scene {
  /** Of the program. */
  args: readonly string[]
  columns: number
  rows: number
  /** Brings the screen to where the picture is taken. */
  play: (terminal: Pty) => Promise<unknown>
}

const root = new URL('..', import.meta.url).pathname
const LONG = 120_000

/** The demo's first question is written already: it is sent, and then played until `until` is on the screen. */
async function played(terminal: Pty, until: RegExp): Promise<void> {
  await terminal.waitFor(/> A test fails/, LONG)
  await terminal.type('enter')
  await terminal.waitFor(until, LONG)
}

const SCENES: Readonly<Record<string, Scene>> = {
  demo: {
    args: ['demo'], columns: 96, rows: 42,
    play: async (terminal) => {
      await played(terminal, /Enter: Yes, once/)
      // Keys that come right with a question belong to what was being written.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await terminal.type('y')
      await terminal.waitFor(/^■ (verified|done)\b/m, LONG)
    },
  },
  approval: { args: ['demo'], columns: 96, rows: 36, play: (terminal) => played(terminal, /Enter: Yes, once/) },
  steering: {
    args: ['demo'], columns: 96, rows: 25,
    play: async (terminal) => {
      await played(terminal, /● shell.*\n[^]*Esc interrupts/)
      await terminal.type(...'and say what was wrong'.split(''), 'enter')
      await terminal.waitFor(/before the next request/, LONG)
    },
  },
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SCENES)
for (const name of names) {
  const scene = SCENES[name]
  if (!scene) throw new Error(`there is no picture ${name}; there are ${Object.keys(SCENES).join(', ')}`)
  const terminal = launch(process.execPath, [join(root, 'bin/tiller.js'), ...scene.args], { columns: scene.columns, rows: scene.rows })
  try {
    await scene.play(terminal)
    write(name, toSvg(await replayed(terminal.bytes(), scene), `tiller ${scene.args.join(' ')}`))
  } finally {
    terminal.close()
  }
}

/** The bytes once more, in a terminal whose cells can be read. */
async function replayed(bytes: string, { columns, rows }: Scene): Promise<xterm.Terminal> {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  terminal.loadAddon(new unicode.Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  return terminal
}

function write(name: string, svg: string): void {
  const folder = join(root, 'fixtures/pictures')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.svg`), svg)
  const png = new Resvg(svg, { fitTo: { mode: 'zoom', value: 2 }, font: { loadSystemFonts: true, monospaceFamily: 'DejaVu Sans Mono' } }).render().asPng()
  writeFileSync(join(folder, `${name}.png`), png)
  console.log(`${name}: ${svg.length} bytes of SVG, ${png.length} of PNG`)
}
