/*
  A connection that is made again whenever it is lost, to an address that may change.

  Each attempt is: dial, then the owner's handshake (`onConnected`), both within ATTEMPT_MS_MAX.

  R1. There is at most one attempt at a time, `#attempt`. Whatever arrives for another one is
      dropped, so nothing that belongs to an old target can change the state for the new one.
  R2. `retarget` gives up the attempt or connection with the old target before it begins with the
      new one, and the old target is never dialled again: a peer that moved is not looked for at its
      dead address.
  R3. `onDisconnected` follows each successful `onConnected`, exactly once.
  R4. The first failure of a kind is a warning, repeats of it are debug lines.
*/

import { Backoff } from '../base/backoff.ts';
import type { Timer } from '../base/clock.ts';
import { EngineError, type ErrorCode, environmentError } from '../base/errors.ts';
import {
  type Address,
  addressText,
  type ByteStream,
  isSameAddress,
  type Network,
} from './network.ts';
import { PacketConnection, type PacketConnectionOptions } from './packet-connection.ts';

/** Longer than a loaded machine needs for dial and handshake, shorter than people wait for. */
const ATTEMPT_MS_MAX = 10_000;

export interface ReconnectingClientOptions extends PacketConnectionOptions {
  /** What is at the other end, for log lines: `topology master`. */
  readonly peer: string;
  readonly network: Network;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly attemptMsMax?: number;
  /**
   * The handshake. The client counts as connected when it is done; when it throws an EngineError
   * the connection is closed and tried again later. To give up for good call `close`.
   */
  readonly onConnected: (connection: PacketConnection) => Promise<void> | void;
  readonly onDisconnected?: (reason: EngineError) => void;
}

interface Attempt {
  readonly target: Address;
  readonly giveUp: AbortController;
  connection: PacketConnection | undefined;
  /** The handshake is done. */
  established: boolean;
  /** Ends dial and handshake when they take too long. */
  timeLimit: Timer | undefined;
}

export class ReconnectingClient {
  readonly #options: ReconnectingClientOptions;
  readonly #backoff: Backoff;
  #target: Address | undefined;
  #attempt: Attempt | undefined;
  /** The wait before the next attempt. */
  #pause: Timer | undefined;
  #lastError: EngineError | undefined;
  #reportedCode: ErrorCode | undefined;
  #isClosed = false;

  /** Does nothing until `retarget` names an address. */
  constructor(options: ReconnectingClientOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, options.backoffMinMs, options.backoffMaxMs);
  }

  /** The connection, once its handshake is done and as long as it is open. */
  get connection(): PacketConnection | undefined {
    return this.#attempt?.established ? this.#attempt.connection : undefined;
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  get target(): Address | undefined {
    return this.#target;
  }

  /** Why the last attempt or connection ended; undefined while there was no failure. */
  get lastError(): EngineError | undefined {
    return this.#lastError;
  }

  /**
   * Connects to this address from now on; undefined means to nobody. Nothing happens when it is the
   * same.
   */
  retarget(target: Address | undefined): void {
    if (this.#isClosed || isSameTarget(this.#target, target)) return;
    this.#target = target;
    this.#backoff.reset();
    this.#leave(`${this.#options.peer} is somewhere else now`);
    if (target !== undefined) this.#start(target);
  }

  /** Ends the connection and all attempts. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#target = undefined;
    this.#leave(`the client of ${this.#options.peer} was closed`);
  }

  #leave(why: string): void {
    this.#pause?.cancel();
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    this.#attempt = undefined;
    const reason = environmentError('CONNECTION_CLOSED', why);
    attempt.timeLimit?.cancel();
    attempt.giveUp.abort();
    attempt.connection?.close(reason);
    if (attempt.established) this.#options.onDisconnected?.(reason);
  }

  #start(target: Address): void {
    const attempt: Attempt = {
      target,
      giveUp: new AbortController(),
      connection: undefined,
      established: false,
      timeLimit: undefined,
    };
    this.#attempt = attempt;
    const { attemptMsMax = ATTEMPT_MS_MAX, clock, network, peer } = this.#options;
    attempt.timeLimit = clock.after(attemptMsMax, () => {
      const message = `${peer} at ${addressText(target)} did not answer within ${attemptMsMax} ms`;
      this.#onFailed(attempt, environmentError('REQUEST_TIMEOUT', message, { retryable: true }));
    });
    network.connect(target, attempt.giveUp.signal).then(
      (stream) => {
        if (this.#attempt === attempt) this.#shakeHands(attempt, stream);
        else stream.destroy();
      },
      (error: unknown) => this.#onFailed(attempt, error),
    );
  }

  #shakeHands(attempt: Attempt, stream: ByteStream): void {
    const connection = new PacketConnection(stream, this.#options);
    attempt.connection = connection;
    connection.onClose((reason) => this.#onFailed(attempt, reason));
    const handshake = async (): Promise<void> => this.#options.onConnected(connection);
    handshake().then(
      () => this.#onEstablished(attempt),
      (error: unknown) => this.#onFailed(attempt, error),
    );
  }

  #onEstablished(attempt: Attempt): void {
    if (this.#attempt !== attempt) return;
    attempt.established = true;
    attempt.timeLimit?.cancel();
    this.#backoff.reset();
    this.#reportedCode = undefined;
    const { logger, peer } = this.#options;
    logger.info(`connected with ${peer}`, { address: addressText(attempt.target) });
  }

  #onFailed(attempt: Attempt, error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    if (this.#attempt !== attempt) return;
    const { target, established } = attempt;
    const { clock, onDisconnected } = this.#options;
    this.#attempt = undefined;
    this.#lastError = error;
    attempt.timeLimit?.cancel();
    attempt.giveUp.abort();
    attempt.connection?.close(error);
    if (established) onDisconnected?.(error);
    // The owner may have retargeted or closed the client in onDisconnected.
    if (this.#attempt !== undefined || this.#target !== target) return;
    const waitMs = this.#backoff.next();
    this.#report(target, error, waitMs);
    this.#pause = clock.after(waitMs, () => this.#start(target));
  }

  #report(target: Address, error: EngineError, waitMs: number): void {
    const { logger, peer } = this.#options;
    const { code, message } = error;
    const fields = {
      address: addressText(target),
      code,
      reason: message,
      waitMs: Math.ceil(waitMs),
    };
    if (code === this.#reportedCode) logger.debug(`no connection with ${peer}`, fields);
    else logger.warn(`no connection with ${peer}`, fields);
    this.#reportedCode = code;
  }
}

function isSameTarget(one: Address | undefined, other: Address | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && isSameAddress(one, other));
}
