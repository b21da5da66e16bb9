/** One value, and who wants to know when it is another. */
export interface Store<T> {
  get: () => T
  update: (change: (value: T) => T) => void
  subscribe: (listener: () => void) => () => void
}

export function store<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    update: (change) => {
      const next = change(value)
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
