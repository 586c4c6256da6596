/* The demo's own count of the same files, in one process and by other means than the topology's. */

import { readFile } from 'node:fs/promises';

export async function countWords(files: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const file of files) {
    const content = (await readFile(file, 'utf8')).toLowerCase();
    for (const word of content.split(/[^\p{Letter}]+/u)) {
      if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return counts;
}

/** One text for each word whose counts differ. */
export function differences(
  expected: ReadonlyMap<string, number>,
  counted: ReadonlyMap<string, number>,
): string[] {
  const words = new Set([...expected.keys(), ...counted.keys()]);
  return [...words]
    .filter((word) => expected.get(word) !== counted.get(word))
    .map((word) => `${word}: ${expected.get(word) ?? 0}, not ${counted.get(word) ?? 0}`);
}
