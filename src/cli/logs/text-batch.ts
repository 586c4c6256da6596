import type { Output } from '../output.ts';

/** Large enough that writing costs little, small enough that nobody waits for it. */
const BATCH_CHARACTERS = 64 * 1024;

/** Lines that are written together: one call of the system for each would be most of the work. */
export class TextBatch {
  readonly #output: Pick<Output, 'write'>;
  #parts: string[] = [];
  #length = 0;

  constructor(output: Pick<Output, 'write'>) {
    this.#output = output;
  }

  add(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#length >= BATCH_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#length > 0) this.#output.write(this.#parts.join(''));
    this.#parts = [];
    this.#length = 0;
  }
}
