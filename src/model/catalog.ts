import type { ModelLimits } from '../core/ports.ts'

/** When the figures were last compared with what the providers publish. */
export const CATALOG_DATE = '2026-11-29'

export interface CatalogEntry {
  id: string
  limits: ModelLimits
  /** Whether it takes a reasoning effort. */
  effort: boolean
}

type Price = NonNullable<ModelLimits['price']>
interface Row {
  context: number
  output: number
  effort: boolean
  price: Price | null
  /** A change that the provider has announced. */
  later?: { from: string; price: Price }
}

/** Dollars for a million tokens: fresh input, output, read from a cache, written to one (where that is free, as fresh input). */
const price = (input: number, output: number, cacheRead: number, cacheWrite = input): Price => ({ input, output, cacheRead, cacheWrite })

const claude = (input: number, output: number, cacheRead: number, context = 1_000_000, maxOutput = 128_000): Row => ({ context, output: maxOutput, effort: true, price: price(input, output, cacheRead, input * 1.25) })

/** Above 272,000 tokens of input the whole request costs twice as much, its output half as much again. */
const gpt = (input: number, output: number, cacheRead: number, written = 1): Row => ({
  context: 1_050_000, output: 128_000, effort: true,
  price: { ...price(input, output, cacheRead, input * written), above: { tokens: 272_000, ...price(input * 2, output * 1.5, cacheRead * 2, input * 2 * written) } },
})
const flat = (context: number, output: number, effort: boolean, cost: Price | null, later?: Row['later']): Row => ({ context, output, effort, price: cost, ...(later ? { later } : {}) })
const gemini = (cost: Price | null, later?: Row['later']): Row => flat(1_048_576, 65_536, true, cost, later)

/** Figures of the models that are usual now, from the providers' own price and model pages. All of them see images. */
const ROWS: Readonly<Record<'anthropic' | 'openai' | 'google', Readonly<Record<string, Row>>>> = {
  anthropic: {
    'claude-fable-5-2': claude(8, 40, 0.2),
    'claude-fable-5-1': claude(10, 50, 0.25),
    'claude-fable-5': claude(10, 50, 1),
    'claude-opus-5-5': claude(4, 20, 0.2),
    'claude-opus-5': claude(5, 25, 0.5),
    'claude-opus-4-8': claude(5, 25, 0.5),
    'claude-opus-4-7': claude(5, 25, 0.5),
    'claude-opus-4-6': claude(5, 25, 0.5),
    'claude-opus-4-5': claude(5, 25, 0.5, 200_000, 64_000),
    'claude-sonnet-5-5': claude(2, 10, 0.1),
    'claude-sonnet-5': claude(2, 10, 0.2),
    'claude-sonnet-4-6': claude(3, 15, 0.3, 1_000_000, 64_000),
    'claude-sonnet-4-5': claude(3, 15, 0.3, 200_000, 64_000),
    'claude-haiku-5-5': { ...claude(0.1, 0.5, 0.01), price: { ...price(0.1, 0.5, 0.01, 0.125), above: { tokens: 100_000, ...price(0.5, 2.5, 0.05, 0.625) } } },
    'claude-haiku-4-5': claude(1, 5, 0.1, 200_000, 64_000),
  },
  openai: {
    'gpt-6.2-astra': gpt(8, 40, 0.4, 1.25),
    'gpt-6.2-sol': gpt(2, 10, 0.1, 1.25),
    'gpt-6.1-sol': gpt(2, 10, 0.1, 1.25),
    'gpt-6.1-terra': gpt(1, 5, 0.05, 1.25),
    'gpt-6-astra': gpt(10, 50, 1, 1.25),
    'gpt-6-sol': gpt(2, 10, 0.2, 1.25),
    'gpt-6-luna': gpt(0.1, 0.5, 0.01, 1.25),
    'gpt-5.6-sol': gpt(4, 20, 0.4, 1.25),
    'gpt-5.6-terra': gpt(2, 12, 0.2, 1.25),
    'gpt-5.6-luna': gpt(0.2, 1.2, 0.02, 1.25),
    'gpt-5.6': gpt(4, 20, 0.4, 1.25),
    'gpt-5.5': gpt(5, 30, 0.5),
    'gpt-5.4': gpt(2.5, 15, 0.25),
    'gpt-5.4-mini': flat(400_000, 128_000, true, price(0.75, 4.5, 0.075)),
    'gpt-5.4-nano': flat(400_000, 128_000, true, price(0.2, 1.25, 0.02)),
    'gpt-5.3-codex': flat(400_000, 128_000, true, price(1.75, 14, 0.175)),
    'gpt-5.2': flat(400_000, 128_000, true, price(1.75, 14, 0.175)),
    'gpt-5.1': flat(400_000, 128_000, true, price(1.25, 10, 0.125)),
    'gpt-5': flat(400_000, 128_000, true, price(1.25, 10, 0.125)),
    'gpt-5-mini': flat(400_000, 128_000, true, price(0.25, 2, 0.025)),
    'gpt-5-nano': flat(400_000, 128_000, true, price(0.05, 0.4, 0.005)),
    'gpt-4.1': flat(1_047_576, 32_768, false, price(2, 8, 0.5)),
    'gpt-4.1-mini': flat(1_047_576, 32_768, false, price(0.4, 1.6, 0.1)),
    'gpt-4o': flat(128_000, 16_384, false, price(2.5, 10, 1.25)),
    'gpt-4o-mini': flat(128_000, 16_384, false, price(0.15, 0.6, 0.075)),
    'o3': flat(200_000, 100_000, true, price(2, 8, 0.5)),
    'o4-mini': flat(200_000, 100_000, true, price(1.1, 4.4, 0.275)),
  },
  google: {
    'gemini-4-neon': gemini(price(3, 15, 0.15)),
    'gemini-4-argon': gemini(price(2, 10, 0.1), { from: '2026-12-01', price: price(4, 20, 0.2) }),
    'gemini-4-carbon': gemini(price(2, 10, 0.1), { from: '2026-12-01', price: price(4, 20, 0.2) }),
    'gemini-4-hydrogen': gemini(price(1.5, 7.5, 0.075)),
    'gemini-3.8-flash': gemini(price(0.75, 3.75, 0.075), { from: '2027-01-01', price: price(1.5, 7.5, 0.15) }),
    'gemini-3.7-flash': gemini(price(0.75, 3.75, 0.075), { from: '2028-01-01', price: price(1.5, 7.5, 0.15) }),
    'gemini-3.6-flash': gemini(null),
    'gemini-3.5-flash': gemini(price(1.5, 9, 0.15)),
    'gemini-3.5-flash-lite': gemini(price(0.3, 2.5, 0.03)),
    'gemini-3.1-pro-preview': gemini({ ...price(2, 12, 0.2), above: { tokens: 200_000, ...price(4, 18, 0.4) } }),
    'gemini-3-pro-preview': gemini({ ...price(2, 12, 0.2), above: { tokens: 200_000, ...price(4, 18, 0.4) } }),
    'gemini-3-flash-preview': gemini(price(0.5, 3, 0.05)),
    'gemini-2.5-pro': gemini({ ...price(1.25, 10, 0.125), above: { tokens: 200_000, ...price(2.5, 15, 0.25) } }),
    'gemini-2.5-flash': gemini(price(0.3, 2.5, 0.03)),
    'gemini-2.5-flash-lite': gemini(price(0.1, 0.4, 0.01)),
  },
}

export type CatalogMaker = keyof typeof ROWS

/** The models of a maker, newest first. */
export const catalogOf = (maker: CatalogMaker, now: number): CatalogEntry[] => Object.entries(ROWS[maker]).map(([id, row]) => entry(id, row, now))

/** The entry of a model: by its name, or by the name that a dated or tagged one begins with (`claude-haiku-4-5-20251001`). */
export function lookUp(maker: CatalogMaker, model: string, now: number): CatalogEntry | undefined {
  const rows = ROWS[maker]
  const id = Object.keys(rows).filter((known) => model === known || new RegExp(`^${known.replaceAll('.', '\\.')}(-latest|[-@]\\d{4}(-?\\d\\d){2}|:.*)$`).test(model)).at(0)
  const row = id === undefined ? undefined : rows[id]
  return row && entry(model, row, now)
}

/** Makers by the names that routers such as OpenRouter put before a model, whose dots they write their own way. */
export function lookUpRouted(model: string, now: number): CatalogEntry | undefined {
  const [maker, name] = model.split('/', 2)
  if (name === undefined || (maker !== 'anthropic' && maker !== 'openai' && maker !== 'google')) return undefined
  return lookUp(maker, maker === 'anthropic' ? name.replaceAll('.', '-') : name, now)
}

/** For a model of a known family that the catalog does not have yet. A guess, and marked so; its price stays unknown. */
export function guess(maker: CatalogMaker): CatalogEntry {
  const sizes = { anthropic: [200_000, 32_000], openai: [128_000, 16_384], google: [1_048_576, 65_536] } as const
  const [contextWindow, maxOutput] = sizes[maker]
  return { id: '', effort: false, limits: { contextWindow, maxOutput, images: true, price: null, guessed: true } }
}

function entry(id: string, row: Row, now: number): CatalogEntry {
  const due = row.later && now >= Date.parse(row.later.from) ? row.later.price : row.price
  return { id, effort: row.effort, limits: { contextWindow: row.context, maxOutput: row.output, images: true, price: due, guessed: false } }
}
