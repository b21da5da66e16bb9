import type { MarkedToken, Token } from 'marked'
import { safeLink, type Span } from './spans.ts'
import type { Paint, Theme } from './theme.ts'

/** Inline tokens as spans. What is not known is shown as it was written. */
export const inline = (tokens: readonly Token[], theme: Theme, paint?: Paint): Span[] => tokens.flatMap((token) => toSpans(token as MarkedToken, theme, paint))

/** The named characters that matter; numbers are not decoded, so that no control character comes of them. */
export const decode = (text: string): string => text.replace(/&(amp|lt|gt|quot|apos|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", nbsp: ' ' }

function toSpans(token: MarkedToken, theme: Theme, paint: Paint | undefined): Span[] {
  switch (token.type) {
    case 'text':
      return token.tokens ? inline(token.tokens, theme, paint) : [{ text: decode(token.text), paint }]
    case 'strong':
      return inline(token.tokens, theme, both(theme.strong, paint))
    case 'em':
      return inline(token.tokens, theme, both(theme.emphasis, paint))
    case 'del':
      return theme.plain ? [{ text: token.raw, paint }] : inline(token.tokens, theme, both(theme.struck, paint))
    case 'codespan':
      // Without colours the marks say that it is code.
      return [{ text: theme.plain ? token.raw : token.text.replace(/\n/g, ' '), paint: both(theme.code, paint) }]
    case 'escape':
      return [{ text: token.text, paint }]
    case 'br':
      return [{ text: '\n' }]
    case 'link':
      return link(inline(token.tokens, theme, both(theme.link, paint)), token.text, token.href, theme)
    case 'image':
      return link([{ text: `[image: ${token.text || token.href}]`, paint }], token.text, token.href, theme)
    case 'checkbox':
      return [{ text: token.checked ? '[x] ' : '[ ] ', paint }]
    default:
      return [{ text: token.raw, paint }]
  }
}

/** What a link shows and where it leads are both seen: text can lie about its target. */
function link(spans: Span[], text: string, target: string, theme: Theme): Span[] {
  const safe = safeLink(target)
  if (!safe) return target === '' || target === text || target === `mailto:${text}` ? spans : [...spans, { text: ` (${decode(target)})`, paint: theme.dim }]
  const honest = text === target || text === safe.href || `http://${text}` === target || `https://${text}` === target
  if (!theme.links) return honest ? spans : [...spans, { text: ` (${safe.href})`, paint: theme.dim }]
  const linked = spans.map((span) => ({ ...span, link: safe.href }))
  return honest || safe.host === '' ? linked : [...linked, { text: ` (${safe.host})`, paint: theme.dim }]
}

export const both = (outer: Paint, inner: Paint | undefined): Paint => (inner ? (text) => outer(inner(text)) : outer)
