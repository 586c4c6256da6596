/** Those items that occur more than once, each once. */
export function repeated<Item>(items: Iterable<Item>): readonly Item[] {
  const seen = new Set<Item>();
  const again = new Set<Item>();
  for (const item of items) (seen.has(item) ? again : seen).add(item);
  return [...again];
}
