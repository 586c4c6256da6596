import type { Clock } from '../../base/clock.ts';
import { environmentError } from '../../base/errors.ts';
import { isoTime } from '../../base/iso-time.ts';
import type { AppendFile } from '../../base/rotating-file.ts';
import type { ActionPlace } from './tracker-actions.ts';

/*
  Who did what, and what came of it: JSON lines in a bounded file.

  U1. An action has its line before it begins, and another one when it has ended; what has a first
      line only was cut short. Both carry the same number.
  U2. An action that cannot be written down is not begun.
  U3. Tokens never stand in it.
*/

export interface AuditEntry {
  readonly who: string;
  /** The address that asked. */
  readonly from: string;
  readonly action: string;
  readonly place: ActionPlace;
  /** What it was asked with. */
  readonly wish: object;
}

export class AuditLog {
  readonly #file: AppendFile;
  readonly #clock: Clock;
  #number = 0;

  /** The file stays the caller's to close. */
  constructor(file: AppendFile, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * Notes that an action begins; call the result with what came of it.
   *
   * @throws EngineError FILE_FAILED when it cannot be written (U2).
   */
  begin(entry: AuditEntry): (outcome: string) => void {
    this.#number += 1;
    const number = this.#number;
    if (!this.#append({ number, event: 'asked', ...entry })) {
      throw environmentError(
        'FILE_FAILED',
        'the audit log cannot be written, so nothing is done: look at its disk',
        { retryable: true },
      );
    }
    return (outcome) => this.#append({ number, event: 'ended', outcome });
  }

  /** Notes that somebody asked without the right to. */
  refused(entry: Omit<AuditEntry, 'who' | 'wish'>, reason: string): void {
    this.#append({ event: 'refused', ...entry, reason });
  }

  #append(line: object): boolean {
    const at = isoTime(this.#clock.wallNow());
    return this.#file.append(`${JSON.stringify({ at, ...line }, asPlain)}\n`);
  }
}

function asPlain(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
