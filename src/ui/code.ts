import { highlight } from './highlight.ts'
import { fold, joined, TAB, type Width } from './spans.ts'

export interface Fence {
  language: string
  first: boolean
  last: boolean
}

/** Code between its fence marks, which are shown as they are: what is copied is what was written, and no colour is needed to see where it ends. */
export function renderCode(text: string, { language, first, last }: Fence, { columns, theme, soft = false }: Width): string[] {
  const code = text.replaceAll('\t', TAB)
  const lines = highlight(code, language, theme) ?? code.split('\n').map((line) => [{ text: line }])
  const mark = (name: string): string[] => fold([{ text: `\`\`\`${name}`, paint: theme.dim }], { columns, anywhere: true })
  return [...(first ? mark(language) : []), ...lines.flatMap((line) => (soft ? [joined(line)] : fold(line, { columns, anywhere: true }))), ...(last ? mark('') : [])]
}
