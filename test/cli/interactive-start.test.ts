import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTerminal } from '../support/interactive.ts'
import { openWorld, say } from '../support/world.ts'

it('what a person should know from the beginning is on the screen, and on stderr without one', async () => {
  const world = await openWorld([say('Hello.')], { config: { hooks: { 'before-call': [{ command: 'false' }] } } })
  symlinkSync('/etc/hostname', join(world.repo, 'AGENTS.md'))
  const said = [/hooks are configured \(before-call\), but this version runs none/, /AGENTS\.md leads outside the project/]
  const terminal = openTerminal(world, [], { columns: 160 })
  for (const text of said) await terminal.waitFor(text)
  const { code, stderr } = await world.run(['-p', 'Hi'])
  expect(code).toBe(0)
  for (const text of said) expect(stderr).toMatch(text)
})
