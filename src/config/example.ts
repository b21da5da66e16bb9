import { KEYS, type Keys } from './schema.ts'

/** The text of `.agentrc.example`: every key with its default and its comment. It is itself a valid `.agentrc`. */
export function example(): string {
  return [...HEAD, '{', ...lines(KEYS, '  '), '}', ''].join('\n')
}

const HEAD = [
  '// Every key of .agentrc with its default. Copy what you want to change; the rest may be left out.',
  '// Yours: ~/.config/tiller/agentrc. A project\'s: .agentrc at the root of its repository.',
  '// JSON with comments and trailing commas. Generated from src/config/schema.ts by `node scripts/example.js`.',
]

function lines(keys: Keys, indent: string): string[] {
  return Object.entries(keys).flatMap(([name, entry], index) => [
    ...(index > 0 && indent.length === 2 ? [''] : []),
    `${indent}// ${entry.about}`,
    ...('keys' in entry ? [`${indent}"${name}": {`, ...lines(entry.keys, `${indent}  `), `${indent}},`] : [`${indent}"${name}": ${written(entry.preset)},`]),
  ])
}

const written = (preset: unknown): string => (Array.isArray(preset) && preset.length > 0 ? `[${preset.map((value) => JSON.stringify(value)).join(', ')}]` : JSON.stringify(preset))
