import { defineConfig } from 'vitest/config'
import { closingLine } from './scripts/closing-line.ts'

export default defineConfig({
  test: {
    reporters: ['default', closingLine],
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/long/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real processes and ptys on two cores: more workers only wait for each other.
    maxWorkers: 2,
  },
})
