import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../../src/model/', import.meta.url)

/** Packages that a file imports as soon as it is loaded itself. */
const eager = (source: string): string[] => [...source.matchAll(/^import (?!type )[^'\n]*'((?:@ai-sdk\/|undici)[^']*)'/gm)].map((match) => match[1]!)

test('the packages of the providers and undici are loaded only when they are first used', () => {
  const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))
  expect(sources.flatMap(eager)).toEqual([])
  expect(sources.join('').match(/await import\('(@ai-sdk\/[a-z-]+|undici)'\)/g)).toHaveLength(5)
})

test('an eager import is found', () => {
  expect(eager("import type { X } from 'undici'\nimport { createOpenAI } from '@ai-sdk/openai'\n")).toEqual(['@ai-sdk/openai'])
})
