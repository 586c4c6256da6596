import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, hasCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { sameBytes } from './same-bytes.ts';
import type { StateManager, Watch } from './state-manager.ts';

/*
  Holds an ephemeral node for as long as its process lives.

  L1. A node that is absent is made, at the start and whenever it vanishes: somebody deleted it, or
      the session ended that it belonged to. What a dead holder left behind reads as absent.
  L2. The node of another live holder is left alone; whether to wait or to give way is the owner's.
  L3. No failure of the state manager ends the process: it is tried again.
*/

export interface NodeHolderOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly path: string;
  readonly bytes: Uint8Array;
  /** For messages: `the location of the metrics cache`. */
  readonly what: string;
  /** Somebody else holds the node; called again for each holder that comes. */
  readonly onOther?: () => void;
}

const RETRY_PAUSE_MS = 1_000;

export class NodeHolder {
  readonly #options: NodeHolderOptions;
  #watch: Watch | undefined;
  #retry: Timer | undefined;
  #isCreating = false;
  /** The node was seen absent while it was being made: it may have vanished at once. */
  #isToBeMadeAgain = false;
  #isClosed = false;
  #hasWarned = false;

  constructor(options: NodeHolderOptions) {
    this.#options = options;
  }

  /** Called once. */
  open(): void {
    const { stateManager, path, bytes: own, what, logger, onOther } = this.#options;
    this.#watch = stateManager.watch(path, (bytes) => {
      if (bytes === undefined) void this.#create();
      else if (!sameBytes(bytes, own)) {
        logger.info(`${what} is another one’s`);
        onOther?.();
      }
    });
  }

  /** Stops watching; the node goes with the state manager's session. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#retry?.cancel();
  }

  /** L1 */
  async #create(): Promise<void> {
    if (this.#isClosed) return;
    this.#isToBeMadeAgain = this.#isCreating;
    if (this.#isCreating) return;
    const { stateManager, clock, path, bytes } = this.#options;
    this.#isCreating = true;
    this.#retry?.cancel();
    try {
      await stateManager.create(path, bytes, { ephemeral: true });
      this.#hasWarned = false;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (this.#isClosed) return;
      // Somebody was faster, with bytes like ours perhaps; the watch tells when it is gone (L2).
      if (hasCode(error, 'STATE_EXISTS')) this.#options.onOther?.();
      else {
        this.#report(error);
        this.#retry = clock.after(RETRY_PAUSE_MS, () => void this.#create());
      }
    } finally {
      this.#isCreating = false;
    }
    if (this.#isToBeMadeAgain) await this.#create();
  }

  #report(error: EngineError): void {
    if (!this.#hasWarned) {
      this.#options.logger.warn(`cannot make ${this.#options.what}: ${error.message}`, { error });
    }
    this.#hasWarned = true;
  }
}
