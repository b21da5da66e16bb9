/**
 * A list that only grows, as a value: `push` gives a longer list and leaves the old one as it was, at the cost of
 * the new items only. Lists made one from the other share their items; who pushes to an old one gets a copy.
 */
export class Grown<T> {
  readonly length: number
  readonly #items: T[]

  constructor(items: T[] = [], length = items.length) {
    this.#items = items
    this.length = length
  }

  push(added: readonly T[]): Grown<T> {
    if (added.length === 0) return this
    const items = this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length)
    for (const item of added) items.push(item)
    return new Grown(items, items.length)
  }

  at(index: number): T | undefined {
    return index < this.length ? this.#items[index] : undefined
  }

  slice(from = 0, to = this.length): T[] {
    return this.#items.slice(from, Math.min(to, this.length))
  }
}
