/*
  Delta debugging: finds a small part of a list for which something still holds.

  D1. The result is a sublist, in order, for which `holds` was seen to be true.
  D2. When the budget did not end before, no single item can be left out of it.
  D3. `holds` is asked at most `asksMax` times, and never twice for the same sublist.
*/

export interface FewestOptions {
  readonly asksMax: number;
}

export interface Fewest<Item> {
  readonly items: readonly Item[];
  readonly asks: number;
}

/** `items` itself is taken to hold; parts are left out from halves down to single items. */
export async function fewestThat<Item>(
  items: readonly Item[],
  holds: (part: readonly Item[]) => Promise<boolean>,
  { asksMax }: FewestOptions,
): Promise<Fewest<Item>> {
  let asks = 0;
  const refused = new Set<string>();
  /** Indices, so that equal items count as two. */
  let kept = items.map((_, index) => index);
  const stillHolds = async (part: readonly number[]): Promise<boolean> => {
    const key = part.join(',');
    if (refused.has(key) || asks === asksMax) return false;
    asks += 1;
    const answer = await holds(part.map((index) => items[index] as Item));
    if (!answer) refused.add(key);
    return answer;
  };

  let pieces = 1;
  const isDone = (): boolean => kept.length === 0 || asks === asksMax;
  while (!isDone()) {
    const without = await firstThatHolds(partsWithout(kept, pieces), stillHolds);
    if (without !== undefined) {
      kept = without;
      pieces = Math.max(1, Math.min(pieces - 1, kept.length));
    } else if (pieces >= kept.length) {
      break; // D2: every single one has been tried.
    } else {
      pieces = Math.min(kept.length, pieces * 2);
    }
  }
  return { items: kept.map((index) => items[index] as Item), asks };
}

async function firstThatHolds(
  parts: readonly (readonly number[])[],
  holds: (part: readonly number[]) => Promise<boolean>,
): Promise<number[] | undefined> {
  for (const part of parts) if (await holds(part)) return [...part];
  return undefined;
}

/** What is left when each of so many pieces in turn is taken out; one piece: nothing is left. */
function partsWithout(kept: readonly number[], pieces: number): readonly (readonly number[])[] {
  const size = Math.ceil(kept.length / pieces);
  const parts: (readonly number[])[] = [];
  for (let start = 0; start < kept.length; start += size) {
    parts.push([...kept.slice(0, start), ...kept.slice(start + size)]);
  }
  return parts;
}
