// Writes .agentrc.example from the schema. A test fails when the file in the checkout differs.
import { writeFileSync } from 'node:fs'
import { example } from '../src/config/example.ts'

writeFileSync(new URL('../.agentrc.example', import.meta.url), example())
