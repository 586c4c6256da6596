/*
  A session with an ensemble: what outlives the connections with its servers.

  Z1. There is at most one connection, or one pause before the next. Servers are tried one after the
      other, in an order of chance that each session has for itself; after each round there is a
      pause that grows.
  Z2. On each connection the credentials go first, then the watches, then what waits: nothing that
      waited is refused for want of an identity, and no change after a read goes unnoticed.
  Z3. Whether the session has expired is for the servers to say: while all of them are down, time
      stands still for sessions.
  Z4. The exception: servers whose data is older than what we have seen, from a backup, refuse us
      for ever. When refusals have lasted longer than the session, one attempt asks for a new
      session. A server that grants it works; if it then still refuses ours, that one is lost.
  Z5. After `lost` or `closed` nothing is called, and nothing is left: no timer, no connection.
*/

import { assert } from '../../base/assert.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { EngineError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import { type Address, addressText, type Dialer } from '../../net/network.ts';
import { malformed } from '../../wire/malformed.ts';
import type { Chroot } from './chroot.ts';
import type { JuteReader } from './jute-reader.ts';
import { JuteWriter } from './jute-writer.ts';
import type { Credential, Watcher } from './node-records.ts';
import { CODE, closeSession, type Operation } from './operations.ts';
import { Requests } from './requests.ts';
import {
  type AnswerHeader,
  NO_PASSWORD,
  ServerConnection,
  type SessionClaim,
  type SessionGrant,
  XID,
} from './server-connection.ts';
import { WatchTable } from './watch-table.ts';
import { ZooKeeperError, type ZooKeeperReason } from './zookeeper-error.ts';

/*
  connecting ──> connected <──> suspended
      └───────────────┴─────────────┴──────> lost | closed
*/
export type SessionState = 'connecting' | 'connected' | 'suspended' | 'lost' | 'closed';

export interface ZooKeeperSessionOptions {
  /** At least one; they are tried in an order of chance. */
  readonly servers: readonly Address[];
  /**
   * How long the servers keep the session without a sign of life. They round it to their own
   * limits, which are 2 and 20 ticks unless they say otherwise.
   */
  readonly sessionTimeoutMs: number;
  /** The longest that one request may wait for its answer, outages included. */
  readonly requestTimeoutMs: number;
  readonly credentials?: readonly Credential[];
  /** `tcpNetwork`, a dialer of TLS, or a simulated one. */
  readonly network: Dialer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** A server holds the session, for the first time or again; watches are armed with it. */
  readonly onConnected?: () => void;
  /**
   * The server is gone, or was silent for two thirds of the session. The session may live on, but
   * from a third of it later on its ephemeral nodes may go: who leads by one stops leading.
   */
  readonly onSuspended?: (reason: EngineError) => void;
  /**
   * The session is over: SESSION_EXPIRED, which only servers decide (Z3, Z4), or
   * AUTHENTICATION_FAILED. All requests have failed, all watchers have heard `lost`.
   */
  readonly onLost?: (reason: ZooKeeperError) => void;
}

/** What is to be watched with a request, when its answer says that it is. */
export interface WatchRequest {
  /** `node`: also one that is not there yet. */
  readonly of: 'node' | 'data' | 'children';
  readonly watcher: Watcher;
}

/** A server that restarts is back within seconds; until then nobody should wait long for it. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** How long a server may take to end the session; without it the session runs out by itself. */
const FAREWELL_MS = 1_000;

export class ZooKeeperSession {
  readonly #options: ZooKeeperSessionOptions;
  readonly #servers: readonly Address[];
  readonly #backoff: Backoff;
  readonly #requests: Requests;
  readonly #watches: WatchTable;
  #state: SessionState = 'connecting';
  #claim: SessionClaim;
  /** How many attempts there were. */
  #attempts = 0;
  #connection: ServerConnection | undefined;
  #pause: Timer | undefined;
  /** The first refusal since a server granted the session, or the last probe (Z4). */
  #refusedSinceMs: number | undefined;
  /** The server that is asked now has just granted a new session (Z4). */
  #isProven = false;
  /** Why there is no connection. */
  #lastError: EngineError | undefined;
  /** Why nothing can be asked any more. */
  #ended: ZooKeeperReason | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ZooKeeperSessionOptions, chroot: Chroot) {
    assert(options.servers.length > 0, 'an ensemble has at least one server');
    this.#options = options;
    this.#servers = shuffled(options.servers, options.random);
    this.#backoff = new Backoff(options.random, PAUSE_MIN_MS, PAUSE_MAX_MS);
    this.#requests = new Requests(options.clock, options.requestTimeoutMs, () => this.#lastError);
    this.#watches = new WatchTable(chroot);
    const { sessionTimeoutMs } = options;
    this.#claim = { sessionId: 0n, password: NO_PASSWORD, lastZxid: 0n, sessionTimeoutMs };
  }

  get state(): SessionState {
    return this.#state;
  }

  get sessionId(): bigint {
    return this.#claim.sessionId;
  }

  get sessionTimeoutMs(): number {
    return this.#claim.sessionTimeoutMs;
  }

  open(): void {
    assert(this.#attempts === 0, 'a session is opened once');
    if (!this.#isOver) this.#dial();
  }

  /** Sends a request, or lets it wait for a server. Paths are whole. */
  request<Result>(operation: Operation<Result>, watch?: WatchRequest): Promise<Result> {
    if (this.#ended !== undefined) {
      return Promise.reject(new ZooKeeperError(this.#ended, { path: operation.path }));
    }
    const answer = this.#requests.add(operation, (outcome) => {
      if (watch !== undefined) this.#watch(watch, operation.path, outcome);
    });
    this.#sendWaiting();
    return answer;
  }

  close(): Promise<void> {
    this.#ended ??= 'CLOSED';
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get #isOver(): boolean {
    return this.#state === 'lost' || this.#state === 'closed';
  }

  /** Z4: whether the next attempt asks for another session than ours. */
  get #isProbeDue(): boolean {
    const { clock } = this.#options;
    const sinceMs = this.#refusedSinceMs;
    const { sessionId, sessionTimeoutMs } = this.#claim;
    return sessionId !== 0n && sinceMs !== undefined && clock.now() - sinceMs > sessionTimeoutMs;
  }

  #dial(): void {
    const { network, clock } = this.#options;
    const server = this.#servers[this.#attempts % this.#servers.length] as Address;
    this.#attempts += 1;
    const { sessionTimeoutMs } = this.#claim;
    const thirdMs = sessionTimeoutMs / 3;
    const isProbe = this.#isProbeDue;
    if (isProbe) this.#refusedSinceMs = undefined;
    const nobody = { sessionId: 0n, password: NO_PASSWORD, lastZxid: 0n, sessionTimeoutMs };
    this.#connection = new ServerConnection({
      server,
      claim: isProbe ? nobody : this.#claim,
      // What a silent server leaves of the session (L2); the only server may take longer.
      attemptMsMax: this.#servers.length === 1 ? 2 * thirdMs : thirdMs,
      network,
      clock,
      onGranted: (grant) => (isProbe ? this.#onProbeGranted() : this.#onGranted(grant, server)),
      onAnswer: (header, body) => this.#onAnswer(header, body),
      onGone: (reason, isRefused) => this.#onGone(reason, isRefused, server),
    });
  }

  #onGranted(grant: SessionGrant, server: Address): void {
    if (grant.sessionTimeoutMs === 0) {
      this.#lose(new ZooKeeperError('SESSION_EXPIRED'));
      return;
    }
    this.#claim = { ...grant, lastZxid: this.#claim.lastZxid };
    this.#refusedSinceMs = undefined;
    this.#isProven = false;
    this.#lastError = undefined;
    this.#backoff.reset();
    this.#state = 'connected';
    this.#introduce();
    this.#sendWaiting();
    this.#options.logger.info('connected with ZooKeeper', { address: addressText(server) });
    this.#options.onConnected?.();
  }

  /** Z2. */
  #introduce(): void {
    for (const { scheme, secret } of this.#options.credentials ?? []) {
      const frame = new JuteWriter().int(XID.credential).int(CODE.credential).int(0);
      this.#connection?.send(frame.string(scheme).buffer(secret).frame());
    }
    for (const { data, absent, children } of this.#watches.parts()) {
      const frame = new JuteWriter().int(XID.setWatches).int(CODE.setWatches);
      frame.long(this.#claim.lastZxid);
      for (const paths of [data, absent, children]) {
        frame.vector(paths, (path) => frame.string(path));
      }
      this.#connection?.send(frame.frame());
    }
  }

  #sendWaiting(): void {
    if (this.#state !== 'connected') return;
    this.#requests.sendWaiting((frame) => this.#connection?.send(frame));
  }

  #onAnswer(header: AnswerHeader, body: JuteReader): void {
    switch (header.xid) {
      case XID.event:
        if (this.#closing === undefined) this.#watches.tell(body);
        return;
      case XID.credential:
        if (header.error !== 0) this.#lose(new ZooKeeperError('AUTHENTICATION_FAILED'));
        return;
      case XID.setWatches:
        if (header.error !== 0) throw malformed(`watches were refused with ${header.error}`);
        return;
      default:
        this.#requests.settle(header, body);
        if (header.zxid > this.#claim.lastZxid) {
          this.#claim = { ...this.#claim, lastZxid: header.zxid };
        }
    }
  }

  #watch(
    { of, watcher }: WatchRequest,
    path: string | undefined,
    outcome: 'found' | 'not-found',
  ): void {
    assert(path !== undefined, 'what is watched has a path');
    if (outcome === 'not-found' && of !== 'node') return; // The server has armed nothing.
    const kind = of === 'node' ? (outcome === 'found' ? 'data' : 'absent') : of;
    this.#watches.add(kind, path, watcher);
  }

  #onGone(reason: EngineError, isRefused: boolean, server: Address): void {
    const wasConnected = this.#state === 'connected';
    const isProven = this.#isProven;
    this.#isProven = false;
    this.#connection = undefined;
    this.#requests.failSent(reason);
    if (this.#closing !== undefined) return;
    if (isRefused && isProven) {
      const detail = 'the servers have not heard of it';
      this.#lose(new ZooKeeperError('SESSION_EXPIRED', { detail }));
      return;
    }
    if (isRefused) this.#refusedSinceMs ??= this.#options.clock.now();
    this.#report(reason, server);
    this.#again();
    if (!wasConnected) return;
    this.#state = 'suspended';
    this.#options.onSuspended?.(reason);
  }

  /** Z1. */
  #again(): void {
    const isRoundOver = this.#attempts % this.#servers.length === 0;
    const pauseMs = isRoundOver ? this.#backoff.next() : 0;
    this.#pause = this.#options.clock.after(pauseMs, () => this.#dial());
  }

  /** Asks the same server for ours once more. The new session runs out by itself. */
  #onProbeGranted(): void {
    this.#connection?.destroy();
    this.#attempts -= 1;
    this.#isProven = true;
    this.#dial();
  }

  #lose(reason: ZooKeeperError): void {
    if (this.#closing !== undefined) return;
    this.#finish('lost', reason.reason);
    this.#options.logger.warn(`the ZooKeeper session is lost: ${reason.message}`);
    this.#watches.tellLost();
    this.#options.onLost?.(reason);
  }

  async #close(): Promise<void> {
    if (this.#state === 'connected') await this.#sayFarewell();
    if (this.#isOver) return;
    this.#watches.clear();
    this.#finish('closed', 'CLOSED');
  }

  /** Settles when the server has ended the session, or is gone, or takes too long. */
  #sayFarewell(): Promise<void> {
    return new Promise((resolve) => {
      const limit = this.#options.clock.after(FAREWELL_MS, resolve);
      const onOutcome = (): void => {
        limit.cancel();
        resolve();
      };
      // It fails when the connection breaks; what counts is that there is nothing to wait for.
      this.#requests.add(closeSession).then(onOutcome, onOutcome);
      this.#sendWaiting();
    });
  }

  #finish(state: 'lost' | 'closed', reason: ZooKeeperReason): void {
    this.#state = state;
    this.#ended = reason;
    this.#pause?.cancel();
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#requests.failEverything(reason);
  }

  /** The first failure of a kind is a warning, repeats of it are debug lines. */
  #report(error: EngineError, server: Address): void {
    const { code, message } = error;
    const fields = { address: addressText(server), code, reason: message };
    const { logger } = this.#options;
    if (code === this.#lastError?.code) logger.debug('no connection with ZooKeeper', fields);
    else logger.warn('no connection with ZooKeeper', fields);
    this.#lastError = error;
  }
}

function shuffled(servers: readonly Address[], random: Random): readonly Address[] {
  const order = [...servers];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const chosen = random.below(last + 1);
    [order[last], order[chosen]] = [order[chosen] as Address, order[last] as Address];
  }
  return order;
}
