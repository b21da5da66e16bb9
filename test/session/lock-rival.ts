// One of the processes that fight for a lock in lock.test.ts. Told to, it tries at a given moment, says how it went, and holds until told to release.
import { closeSync, openSync, rmSync } from 'node:fs'
import type { Lock } from '../../src/session/lock.ts'
import { takeLock } from '../../src/session/lock.ts'

let lock: Lock | null = null
let inside = ''

process.on('message', (message: { take: string; at: number } | { release: true }) => {
  if ('release' in message) {
    if (inside) rmSync(inside)
    inside = ''
    lock?.release()
    lock = null
    process.send?.({ released: true })
    return
  }
  while (Date.now() < message.at) continue
  const taken = takeLock(message.take, Date.now())
  if (!taken.ok) {
    process.send?.({ got: false, why: taken.why, pid: taken.holder.pid })
    return
  }
  lock = taken.lock
  inside = `${message.take}-inside`
  try {
    closeSync(openSync(inside, 'wx'))
    process.send?.({ got: true })
  } catch {
    process.send?.({ got: true, broken: 'somebody else was inside' })
  }
})
process.send?.({ ready: true })
