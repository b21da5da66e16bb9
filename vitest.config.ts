import { defineConfig } from 'vitest/config'
import { closingLine } from './scripts/closing-line.ts'

export default defineConfig({
  test: {
    reporters: ['default', closingLine],
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/long/**'],
    globalSetup: 'test/support/shared-cache.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real terminals and processes on a shared machine: on CI one that only came late is tried again, and said to be flaky.
    retry: process.env['CI'] ? 2 : 0,
    // Real processes and ptys on two cores: more workers only wait for each other.
    maxWorkers: 2,
  },
})
