import { environmentError, type EngineError } from '../../base/errors.ts';
import type { StateManagerPorts } from '../state-manager-ports.ts';
import { type ZooKeeperStateAddress, stateAddressText } from '../state-address.ts';
import type { ZooKeeperClient } from './zookeeper-client.ts';
import { ZooKeeperError, type ZooKeeperReason } from './zookeeper-error.ts';

/*
  The session of now, and the next one after it.

  K1. A session is opened by the first call that needs one, and after a loss by the next.
  K2. A call whose connection breaks goes on over the next one, until its time is over. What may
      have been carried out already is the caller's to find out (`Attempt`).
  K3. With `endsWithLostNodes` a session that is lost with nodes of ours is the last: whoever held a
      lock by such a node must not write in its name any more.
*/

export interface SessionKeeperOptions extends StateManagerPorts {
  readonly address: ZooKeeperStateAddress;
  /** K3: whether ephemeral nodes go with the session and cannot be made again. */
  readonly losesNodes: () => boolean;
  /** A server holds the session, ours of before or a new one. */
  readonly onConnected: () => void;
}

/** How far one call has come. */
export class Attempt {
  /** The change that the call is about may have been made before its connection broke. */
  mayBeDone = false;

  /** Watches over the request that makes the change. */
  async decisive<Result>(request: Promise<Result>): Promise<Result> {
    try {
      return await request;
    } catch (error) {
      if (error instanceof ZooKeeperError && error.isUncertain) this.mayBeDone = true;
      throw error;
    }
  }
}

export type SessionWork<Result> = (client: ZooKeeperClient, attempt: Attempt) => Promise<Result>;

/** After these the same request may succeed at once, with the next connection or session. */
const AGAIN: ReadonlySet<ZooKeeperReason> = new Set([
  'CONNECTION_LOST',
  'SESSION_EXPIRED',
  'SESSION_MOVED',
]);

export class SessionKeeper {
  readonly #options: SessionKeeperOptions;
  #opening: Promise<ZooKeeperClient> | undefined;
  #client: ZooKeeperClient | undefined;
  /** Why no call is possible any more. */
  #ended: EngineError | undefined;
  #isClosed = false;
  #onHopeless = (): void => {};

  constructor(options: SessionKeeperOptions) {
    this.#options = options;
  }

  /** Throws what every call does once there will be no session any more. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Resolves when nobody should wait for an answer any more: at once without a connection. */
  hopeless(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#client?.state !== 'connected') resolve();
      this.#onHopeless = resolve;
    });
  }

  /** @throws what reading the credentials throws. */
  client(): Promise<ZooKeeperClient> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** When a call that begins now has waited for a server long enough. */
  deadlineMs(): number {
    return this.#options.clock.now() + this.#options.address.connectionTimeoutMs;
  }

  /** K2, K3. Rejects with what the last attempt rejected with. */
  async run<Result>(deadlineMs: number, work: SessionWork<Result>): Promise<Result> {
    const attempt = new Attempt();
    return this.#repeat(deadlineMs, (client) => {
      this.check();
      return work(client, attempt);
    });
  }

  /** The same for a watch, which goes on after K3: it is how a holder hears of its loss. */
  async look<Result>(work: (client: ZooKeeperClient) => Promise<Result>): Promise<Result> {
    return this.#repeat(this.deadlineMs(), work);
  }

  async #repeat<Result>(
    deadlineMs: number,
    work: (client: ZooKeeperClient) => Promise<Result>,
  ): Promise<Result> {
    const { clock } = this.#options;
    for (;;) {
      if (clock.now() >= deadlineMs) throw new ZooKeeperError('TIMED_OUT');
      try {
        return await work(await this.client());
      } catch (error) {
        const isWorthIt = error instanceof ZooKeeperError && AGAIN.has(error.reason);
        if (!isWorthIt || clock.now() >= deadlineMs) throw error;
      }
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ended = environmentError('STATE_UNAVAILABLE', 'this state manager has been closed');
    // Without one nothing has been opened; one that cannot be opened has nothing to close.
    const client = await this.#opening?.catch(() => undefined);
    await client?.close();
  }

  async #open(): Promise<ZooKeeperClient> {
    try {
      // Loaded with the first session: most processes have their state in files.
      const { openClient } = await import('./open-client.ts');
      const client = await openClient(this.#options, {
        onConnected: () => this.#options.onConnected(),
        onSuspended: () => this.#onHopeless(),
        onLost: (reason) => this.#onLost(reason),
      });
      this.#client = client;
      if (!this.#isClosed) client.open();
      return client;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #onLost(reason: ZooKeeperError): void {
    this.#opening = undefined;
    this.#client = undefined;
    this.#onHopeless();
    if (!this.#options.losesNodes()) return;
    const where = stateAddressText(this.#options.address);
    const message = `the session with ${where} has ended, and with it what this process held there`;
    this.#ended ??= environmentError('STATE_UNAVAILABLE', message, { cause: reason });
  }
}
