import { rename, writeFile } from 'node:fs/promises';
import { type AnyTuple, BasicBolt } from 'heron-ts';

/**
 * Writes each tuple as a line of its values, in alphabetical order, when all input has ended. Read
 * it by `globalGrouping`: one task has to have all tuples.
 */
export class SortedLines extends BasicBolt.of({}) {
  readonly #file: string;
  readonly #lines: string[] = [];

  constructor(file: string) {
    super();
    this.#file = file;
  }

  override execute(tuple: AnyTuple): void {
    this.#lines.push(tuple.values.join(' '));
  }

  /** Whole or not at all: somebody may be looking. */
  override async finish(): Promise<void> {
    const unfinished = `${this.#file}.unfinished`;
    await writeFile(
      unfinished,
      this.#lines.toSorted().map((line) => `${line}\n`),
    );
    await rename(unfinished, this.#file);
  }
}
