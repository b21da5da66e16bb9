import type { Reporter } from 'vitest/node'

/** The counts in one plain line at the end, for whoever reads the output by machine. */
export const closingLine: Reporter = {
  onTestRunEnd(modules) {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state: (typeof states)[number]): number => states.filter((each) => each === state).length
    console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
  },
}
