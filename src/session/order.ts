/**
 * Which of these sequence numbers are the session's own: the indexes of the longest run that only rises. A foreign block, a line
 * that stands twice or one out of its place is what does not fit into it; where two would fit, the later one is taken.
 */
export function inOrder(seqs: readonly number[]): number[] {
  // tails[n]: the index of the smallest number that ends a rising run of n + 1
  const tails: number[] = []
  const before: number[] = []
  for (const [index, seq] of seqs.entries()) {
    const length = firstNotBelow(tails, seqs, seq)
    before.push(length === 0 ? -1 : (tails[length - 1] ?? -1))
    tails[length] = index
  }
  const order: number[] = []
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) order.push(index)
  return order.reverse()
}

function firstNotBelow(tails: readonly number[], seqs: readonly number[], seq: number): number {
  let low = 0
  let high = tails.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seqs[tails[middle] ?? 0] ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}
