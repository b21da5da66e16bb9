import xterm from '@xterm/headless'
import { expect, test } from 'vitest'
import { toSvg } from '../../scripts/svg.ts'

async function draw(bytes: string): Promise<string> {
  const terminal = new xterm.Terminal({ cols: 20, rows: 2, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  return toSvg(terminal, 'a <title>')
}

test('characters stand on their places in the grid, in their colours, and markup in them is text', async () => {
  const svg = await draw('\x1b[1;31mred\x1b[0m <b> \x1b[48;2;1;2;3mback\x1b[0m\r\n你x\x1b[7minv')
  expect(svg).toContain('<text x="14.00" y="49" fill="#f08f8f" font-weight="bold" textLength="25.29" xml:space="preserve">red</text>')
  expect(svg).toContain('&lt;b&gt;')
  expect(svg).toContain('<rect x="81.44" y="36" width="33.72" height="17" fill="#010203"/>')
  expect(svg).toMatch(/<text x="30\.86" y="66"[^>]*>x<\/text>/)
  expect(svg).toContain('a &lt;title&gt;')
})
