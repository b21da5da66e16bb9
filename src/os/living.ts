import { endFamily } from './end-family.ts'
import { family, isAlive, type Family, type ProcessEntry } from './process-table.ts'
import type { Guard } from './reaper.ts'
import type { Streams } from './streams.ts'

/** What a command holds while anything of it lives. */
export interface Held {
  streams: Streams
  guarded: Guard
  /** Of the output: nothing more will come. */
  close(): void
  /** Tiller leaves, the command stays: somebody else must read what it writes. */
  letGo(): void
}

/** A command that runs, or that ended and left something running. */
export interface Living {
  end(graceMs: number): Promise<unknown>
  /** The command ended. What it left keeps a working stdout until it ends too, or Tiller does. */
  ended(left: readonly ProcessEntry[], isSilent: boolean): void
  /** It may outlive Tiller. */
  letGo: () => void
}

const all = new Map<Living, readonly ProcessEntry[]>()

/** Ends everything that Tiller started and that still runs, also what finished commands left. For Tiller's own end; the reaper is for its death. */
export async function endAll(graceMs = 1_000): Promise<void> {
  await Promise.all([...all.keys()].map((one) => one.end(graceMs)))
}

/** How many commands run or have left something running. */
export const livingCount = (): number => all.size

/** Knows a command from now on. `end` ends it while it runs. */
export function live(of: Family, held: Held, end: (graceMs: number) => Promise<unknown>): Living {
  sweep()
  const forget = (): void => {
    all.delete(one)
    held.guarded.release()
    held.streams.close()
    held.close()
  }
  const forgetIfGone = async (): Promise<void> => {
    if (all.has(one) && (await family(of)).length === 0) forget()
  }
  const one: Living = {
    end,
    ended(left, isSilent) {
      if (left.length === 0 && isSilent) {
        forget()
        return
      }
      all.set(one, left)
      one.end = async (graceMs) => {
        await endFamily(of, graceMs)
        forget()
      }
      void held.streams.done.then(forgetIfGone)
    },
    letGo() {
      all.delete(one)
      held.guarded.letGo()
      held.letGo()
    },
  }
  all.set(one, [])
  return one
}

/** Forgets what ended unseen, so that its group's number is not held against a later process. */
function sweep(): void {
  for (const [one, left] of all) if (left.length > 0 && !left.some(isAlive)) void one.end(0)
}
