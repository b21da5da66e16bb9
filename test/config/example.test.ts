import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { example } from '../../src/config/example.ts'
import { loadConfig } from '../../src/config/layers.ts'
import { presets } from '../../src/config/schema.ts'
import { temporary } from './temporary.ts'

test('.agentrc.example in the checkout is the one of the schema (else run: node scripts/example.js)', () => {
  expect(readFileSync(new URL('../../.agentrc.example', import.meta.url), 'utf8')).toBe(example())
})

test('the example is a valid configuration and says the defaults', async () => {
  const base = temporary({ 'root/.agentrc': example() })
  const loaded = await loadConfig({ cwd: base, root: join(base, 'root'), home: base, env: {}, options: {}, trusted: true })
  expect(loaded).toMatchObject({ ok: true, config: presets(), warnings: [] })
  const closed = await loadConfig({ cwd: base, root: join(base, 'root'), home: base, env: {}, options: {}, trusted: false })
  expect(closed).toMatchObject({ ok: true, project: { ignored: [] } })
})
