import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { readIfThere, removeIfThere } from '../../base/optional-files.ts';
import { unless } from '../../base/system-codes.ts';
import {
  type DeadLetterAnswer,
  type DeadLetterRequest,
  deadLetterAnswerFileName,
  deadLetterRequestFileName,
  encodeDeadLetterAnswer,
  parseDeadLetterRequest,
  requestIdOf,
} from '../../model/dead-letter.ts';

export interface LetterRequestsOptions {
  readonly files: Files;
  readonly folder: string;
  readonly component: string;
  readonly task: number;
  readonly clock: Clock;
  /** Does what is asked; what it throws becomes the answer's refusal. */
  readonly handle: (request: DeadLetterRequest) => Promise<DeadLetterAnswer>;
  readonly onFailure: (error: unknown) => void;
}

/** Somebody waits at a terminal; a look at a small folder costs next to nothing. */
const PERIOD_MS = 1_000;

/**
 * Looks for what commands ask about the dead letters of a task (model/dead-letter.ts, D4).
 *
 * Q1. A request is done before it is removed: after a crash in between it is done again, which for
 *     either action changes nothing more.
 * Q2. One look at a time; a request that cannot be read or removed is looked at again.
 */
export class LetterRequests {
  readonly #options: LetterRequestsOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: LetterRequestsOptions) {
    this.#options = options;
  }

  /** Idempotent; without effect once it is closed. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#options.clock.every(PERIOD_MS, () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { files, folder, component, task, onFailure } = this.#options;
    try {
      const entries = await unless(['ENOENT'], files.list(folder), []);
      for (const { name } of entries) {
        const id = requestIdOf(name, component, task);
        if (id !== undefined) await this.#take(id);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) onFailure(error);
      this.#isFailing = true;
    }
  }

  async #take(id: string): Promise<void> {
    const { files, folder, component, task } = this.#options;
    const path = `${folder}/${deadLetterRequestFileName(component, task, id)}`;
    const bytes = await readIfThere(files, path);
    if (bytes === undefined) return; // Whoever asked has thought better of it.
    const request = parseDeadLetterRequest(bytes);
    const answer = request === undefined ? NOT_READABLE : await this.#answerTo(request);
    if (request?.wantsAnswer !== false) {
      const answerPath = `${folder}/${deadLetterAnswerFileName(component, task, id)}`;
      await files.write(`${answerPath}.new`, encodeDeadLetterAnswer(answer));
      await files.rename(`${answerPath}.new`, answerPath);
    }
    await removeIfThere(files, path);
  }

  async #answerTo(request: DeadLetterRequest): Promise<DeadLetterAnswer> {
    try {
      return await this.#options.handle(request);
    } catch (error) {
      return { count: 0, refusal: messageOf(error) };
    }
  }
}

const NOT_READABLE: DeadLetterAnswer = { count: 0, refusal: 'the request cannot be read' };
