import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the sinks of `pipeline` have written, as far as it has been read: each byte only once. */
export class SunkLines {
  /** Of all lines, also those that came more than once. */
  count = 0;
  readonly distinct = new Set<string>();
  readonly #folder: string;
  readonly #readBytes = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes in what has been added; half of a line waits for its end. */
  read(): void {
    for (const file of globSync('sink-*.txt', { cwd: this.#folder })) {
      const bytes = readFileSync(join(this.#folder, file));
      const start = this.#readBytes.get(file) ?? 0;
      const end = bytes.lastIndexOf('\n') + 1;
      if (end <= start) continue;
      this.#readBytes.set(file, end);
      const lines = bytes.toString('latin1', start, end - 1).split('\n');
      this.count += lines.length;
      for (const line of lines) this.distinct.add(line);
    }
  }
}
