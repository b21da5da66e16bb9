import { defineConfig } from 'vitest/config'

/** Crash rig, faults of the disk, soak, large data, and what starts the program very often: minutes, not seconds. They print their figures. */
export default defineConfig({
  test: { globalSetup: 'test/support/shared-cache.ts', include: ['test/long/**/*.test.{ts,tsx}'], testTimeout: 1_200_000, hookTimeout: 120_000, maxWorkers: 1 },
})
