/** From 0 to 1: how many pairs of characters two texts have in common. Looks at the first 1,000 characters. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1
  if (a.length < 2 || b.length < 2) return 0
  // Lengths that are too far apart cannot come to anything.
  if (Math.min(a.length, b.length) / Math.max(a.length, b.length) < 0.25) return 0
  const [pairs, others] = [pairsOf(a), pairsOf(b)]
  let common = 0
  let total = 0
  for (const [pair, count] of pairs) {
    common += Math.min(count, others.get(pair) ?? 0)
    total += count
  }
  for (const count of others.values()) total += count
  return (2 * common) / total
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < Math.min(text.length, 1_000); at++) {
    const pair = text.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}
