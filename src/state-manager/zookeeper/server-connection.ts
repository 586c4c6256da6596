/*
  One connection with one server, from the dial to its end.

    we dial        -> the server accepts the TCP connection
    Connect        -> Accept, or the end of the connection: the server has no quorum, or knows less
                      than we do (its last transaction is older than ours)
    requests, pings-> answers and events, until one side ends

    Connect => protocol int  lastZxid long  sessionTimeout int  sessionId long  password buffer
               readOnly boolean
    Accept  => protocol int  sessionTimeout int  sessionId long  password buffer  readOnly boolean
                   a sessionTimeout of 0: the session that was claimed has expired

  L1. After a third of the session without a word from us we send a ping; the server keeps the
      session alive by what it hears.
  L2. After two thirds without a word from the server it is given up. One third is left to find
      another before the session expires.
  L3. When L2 is due, what lies in the socket is read first: it was this process that did not run.
  L4. Dial and handshake have their own limit, so that one that never answers does not use up the
      session while others would.
  L5. `onGone` is the last call, unless the owner ends the connection itself by `destroy`.
*/

import type { Clock, Timer } from '../../base/clock.ts';
import { EngineError, environmentError } from '../../base/errors.ts';
import { type Address, addressText, type ByteStream, type Dialer } from '../../net/network.ts';
import { SendQueue } from '../../net/send-queue.ts';
import { FrameReader } from './frame-reader.ts';
import { JuteReader } from './jute-reader.ts';
import { JuteWriter } from './jute-writer.ts';
import { CODE } from './operations.ts';

/** What we know of our session, shown to the next server. All zero: a new one is wanted. */
export interface SessionClaim {
  readonly sessionId: bigint;
  readonly password: Uint8Array;
  /** The newest transaction that we have seen: a server that does not know it must refuse us. */
  readonly lastZxid: bigint;
  readonly sessionTimeoutMs: number;
}

/** What the server says to a claim; `sessionTimeoutMs` of 0: the session has expired. */
export interface SessionGrant {
  readonly sessionId: bigint;
  readonly password: Uint8Array;
  readonly sessionTimeoutMs: number;
}

export interface AnswerHeader {
  readonly xid: number;
  /** The server's newest transaction; not positive where it says nothing. */
  readonly zxid: bigint;
  /** 0, or ZooKeeper's number of an error. */
  readonly error: number;
}

export interface ServerConnectionOptions {
  readonly server: Address;
  readonly claim: SessionClaim;
  /** For dial and handshake. */
  readonly attemptMsMax: number;
  readonly network: Dialer;
  readonly clock: Clock;
  readonly onGranted: (grant: SessionGrant) => void;
  /** An EngineError that this throws ends the connection. */
  readonly onAnswer: (header: AnswerHeader, body: JuteReader) => void;
  /** `isRefused`: the server was reached, and ended the connection without a word. */
  readonly onGone: (reason: EngineError, isRefused: boolean) => void;
}

/** What a password is before there is one. */
export const NO_PASSWORD: Uint8Array = new Uint8Array(16);

/** The numbers of what is no request of a caller. */
export const XID = { event: -1, ping: -2, credential: -4, setWatches: -8 } as const;

/** As large as the largest packets of Heron itself; a folder of a million nodes. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** What is under way is bounded by the session (requests.ts), which would only count it twice. */
const QUEUE_BYTES_MAX = Number.POSITIVE_INFINITY;

export class ServerConnection {
  readonly #options: ServerConnectionOptions;
  readonly #frames = new FrameReader(ANSWER_BYTES_MAX);
  readonly #giveUp = new AbortController();
  #stream: ByteStream | undefined;
  #queue: SendQueue | undefined;
  /** Undefined until the session is granted. */
  #sessionTimeoutMs: number | undefined;
  #heardAtMs = 0;
  #sentAtMs = 0;
  #timer: Timer | undefined;
  #isGone = false;

  /** Dials at once. */
  constructor(options: ServerConnectionOptions) {
    this.#options = options;
    const { attemptMsMax, clock, network, server } = options;
    this.#timer = clock.after(attemptMsMax, () =>
      this.#end(this.#timeOut(`did not answer within ${Math.ceil(attemptMsMax)} ms`)),
    );
    network.connect(server, this.#giveUp.signal).then(
      (stream) => this.#shakeHands(stream),
      (error: unknown) => this.#end(error),
    );
  }

  send(frame: Uint8Array): void {
    this.#sentAtMs = this.#options.clock.now();
    this.#queue?.pushControl(frame);
  }

  /** Drops the connection without a call of `onGone`. Idempotent. */
  destroy(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#timer?.cancel();
    this.#giveUp.abort();
    this.#queue?.fail();
    this.#stream?.destroy();
  }

  #shakeHands(stream: ByteStream): void {
    if (this.#isGone) {
      stream.destroy();
      return;
    }
    this.#stream = stream;
    const limits = { controlBytesMax: QUEUE_BYTES_MAX, dataBytesMax: 0 };
    this.#queue = new SendQueue(stream, limits);
    stream.start({
      onData: (chunk) => this.#onData(chunk),
      onClosed: (error) => this.#end(error ?? this.#closedByServer()),
    });
    const { sessionId, password, lastZxid, sessionTimeoutMs } = this.#options.claim;
    const connect = new JuteWriter().int(0).long(lastZxid).int(sessionTimeoutMs).long(sessionId);
    this.send(connect.buffer(password).boolean(false).frame());
  }

  #onData(chunk: Buffer): void {
    if (this.#isGone) return;
    this.#heardAtMs = this.#options.clock.now();
    try {
      this.#frames.feed(chunk, (frame) => {
        this.#onFrame(new JuteReader(frame));
        return !this.#isGone;
      });
    } catch (error) {
      this.#end(error);
    }
  }

  #onFrame(reader: JuteReader): void {
    if (this.#sessionTimeoutMs === undefined) {
      this.#onGranted(reader);
      return;
    }
    const header = { xid: reader.int(), zxid: reader.long(), error: reader.int() };
    if (header.xid !== XID.ping) this.#options.onAnswer(header, reader);
  }

  #onGranted(reader: JuteReader): void {
    reader.int();
    const sessionTimeoutMs = Math.max(0, reader.int());
    const grant = { sessionTimeoutMs, sessionId: reader.long(), password: reader.buffer() };
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#timer?.cancel();
    if (sessionTimeoutMs > 0) this.#watchSilence(sessionTimeoutMs);
    this.#options.onGranted(grant);
  }

  /** L1 and L2; the timer is set for whichever is due first, by what is known now. */
  #watchSilence(sessionTimeoutMs: number): void {
    const { clock } = this.#options;
    const pingMs = sessionTimeoutMs / 3;
    const silenceMsMax = pingMs * 2;
    const nowMs = clock.now();
    if (nowMs >= this.#heardAtMs + silenceMsMax) {
      this.#timer = clock.soon(() => this.#endIfSilent(sessionTimeoutMs, silenceMsMax));
      return;
    }
    if (nowMs >= this.#sentAtMs + pingMs) {
      this.send(new JuteWriter().int(XID.ping).int(CODE.ping).frame());
    }
    const dueAtMs = Math.min(this.#heardAtMs + silenceMsMax, this.#sentAtMs + pingMs);
    this.#timer = clock.after(dueAtMs - nowMs, () => this.#watchSilence(sessionTimeoutMs));
  }

  #endIfSilent(sessionTimeoutMs: number, silenceMsMax: number): void {
    const silentMs = this.#options.clock.now() - this.#heardAtMs;
    if (silentMs < silenceMsMax) this.#watchSilence(sessionTimeoutMs);
    else this.#end(this.#timeOut(`has said nothing for ${Math.round(silentMs)} ms`));
  }

  #end(reason: unknown): void {
    if (this.#isGone) return;
    if (!(reason instanceof EngineError)) throw reason;
    const isRefused =
      this.#stream !== undefined &&
      this.#sessionTimeoutMs === undefined &&
      reason.code === 'CONNECTION_CLOSED';
    this.destroy();
    this.#options.onGone(reason, isRefused);
  }

  #closedByServer(): EngineError {
    const message = `${addressText(this.#options.server)} closed the connection`;
    return environmentError('CONNECTION_CLOSED', message, { retryable: true });
  }

  #timeOut(what: string): EngineError {
    const message = `${addressText(this.#options.server)} ${what}`;
    return environmentError('REQUEST_TIMEOUT', message, { retryable: true });
  }
}
