import { defineConfig } from 'vitest/config'

/** Crash rig, soak and large data: minutes, not seconds. They print their figures. */
export default defineConfig({
  test: { globalSetup: 'test/support/shared-cache.ts', include: ['test/long/**/*.test.{ts,tsx}'], testTimeout: 1_200_000, hookTimeout: 120_000, maxWorkers: 1 },
})
