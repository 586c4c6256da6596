import { quotable } from './quotable.ts';

/** A longer word is no slip of the pen, and would take long to compare. */
const WORD_LENGTH_MAX = 128;

/**
 * The candidate that someone who wrote `word` most probably meant, or undefined when none is close.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  let best: string | undefined;
  // A third of the letters may differ: more than that is another word, not a slip.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters to insert, remove or replace (Levenshtein), one row of the table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Completes a sentence about an unknown word; empty when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `; did you mean '${quotable(found)}'?`;
}
