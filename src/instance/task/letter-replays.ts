import type { AnySpout, LetterToReplay } from '../../api/component-runtime.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { type DeadLetter, isRecordLetter } from '../../model/dead-letter.ts';
import type { DueEvents } from './due-events.ts';
import { valuesOf } from './letter-of.ts';

export interface LetterReplaysOptions {
  readonly spout: Pick<AnySpout, 'replay'>;
  readonly due: DueEvents;
  readonly deserialize: ((bytes: Uint8Array) => unknown) | undefined;
  /** Takes a letter out of the file; resolves when that survives a crash. */
  readonly remove: (id: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** So many are with the spout at a time: it keeps the values of each. */
const UNDER_WAY_MAX = 100;

/**
 * Dead letters on their way back through the spout.
 *
 * P1. A letter is with the spout once at a time, however often it is asked for.
 * P2. The spout is given the next one when it has dealt with one of those that it has: it emits it
 *     as a new message, and takes it out when that is settled.
 * P3. The spout is called between two calls of its other methods, as for a timer.
 */
export class LetterReplays {
  readonly #options: LetterReplaysOptions;
  /** By id. */
  readonly #waiting = new Map<string, DeadLetter>();
  readonly #underWay = new Set<string>();

  constructor(options: LetterReplaysOptions) {
    this.#options = options;
  }

  /** Returns how many of them were not on their way before. */
  begin(letters: readonly DeadLetter[]): number {
    let count = 0;
    for (const letter of letters) {
      if (this.#waiting.has(letter.id) || this.#underWay.has(letter.id)) continue;
      this.#waiting.set(letter.id, letter);
      count += 1;
    }
    this.#feed();
    return count;
  }

  #feed(): void {
    for (const letter of this.#waiting.values()) {
      if (this.#underWay.size >= UNDER_WAY_MAX) return;
      this.#waiting.delete(letter.id);
      this.#underWay.add(letter.id);
      this.#hand(letter);
    }
  }

  #hand(letter: DeadLetter): void {
    const { spout, due, onError } = this.#options;
    let given: LetterToReplay;
    try {
      given = this.#toReplay(letter);
    } catch (cause) {
      const text = `the dead letter ${letter.id} cannot be read: ${messageOf(cause)}`;
      onError(userError('COMPONENT_FAILED', text, cause));
      this.#underWay.delete(letter.id);
      return;
    }
    due.add({ callback: 'replay', run: () => spout.replay?.(given) });
  }

  #toReplay(letter: DeadLetter): LetterToReplay {
    const { deserialize, remove } = this.#options;
    const { id, stream, position, messageId, attempts, reason } = letter;
    let removal: Promise<void> | undefined;
    return {
      id,
      stream,
      // The bytes of a record are no values of a stream.
      values: isRecordLetter(letter) ? undefined : valuesOf(letter, deserialize),
      position,
      messageId,
      attempts,
      reason,
      remove: () => {
        removal ??= remove(id);
        this.#release(id);
        return removal;
      },
      keep: () => this.#release(id),
    };
  }

  #release(id: string): void {
    if (this.#underWay.delete(id)) this.#feed();
  }
}
