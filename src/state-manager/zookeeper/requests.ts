/*
  The requests of one session, in the order in which they were made.

      request() ──> waiting ──a server is there──> sent ──> answered
                       └── limit: was never sent     └── limit, or the connection broke: uncertain

  Q1. Answers come in the order of the requests; what was sent and given up keeps its place until
      its answer comes or the connection ends.
  Q2. All have the same limit of time, so the oldest always ends first.
  Q3. What waits and what was sent together is bounded in number and bytes.
*/

import type { Clock, Timer } from '../../base/clock.ts';
import type { EngineError } from '../../base/errors.ts';
import { BoundedQueue } from '../../base/bounded-queue.ts';
import { malformed } from '../../wire/malformed.ts';
import type { JuteReader } from './jute-reader.ts';
import { JuteWriter } from './jute-writer.ts';
import type { Operation } from './operations.ts';
import type { AnswerHeader } from './server-connection.ts';
import { errorOfAnswer, ZooKeeperError, type ZooKeeperReason } from './zookeeper-error.ts';

/** ZooKeeper's own limit for a request (`jute.maxbuffer`, 0xfffff unless a server says less). */
const REQUEST_BYTES_MAX = 0xf_ffff;
/** Far above what a process of ours asks at once: who does not wait for answers is told so. */
const REQUESTS_MAX = 20_000;
const REQUESTS_BYTES_MAX = 64 * 1024 * 1024;
/** Request numbers are positive: negative ones mean pings and events. */
const XID_MAX = 0x7fff_ffff;

/** What a request leads to besides its answer, told before the next answer or event is read. */
export type OnOutcome = (outcome: 'found' | 'not-found') => void;

interface Request {
  readonly xid: number;
  readonly frame: Uint8Array;
  readonly path: string | undefined;
  readonly complete: (header: AnswerHeader, body: JuteReader) => void;
  readonly fail: (error: ZooKeeperError) => void;
  timeLimit: Timer | undefined;
  isSent: boolean;
  isSettled: boolean;
}

export class Requests {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #whyNone: () => EngineError | undefined;
  readonly #waiting = new BoundedQueue<Request>(REQUESTS_BYTES_MAX);
  readonly #sent = new BoundedQueue<Request>(REQUESTS_BYTES_MAX);
  #nextXid = 1;

  /** `whyNone` says, for errors, why there is no connection. */
  constructor(clock: Clock, limitMs: number, whyNone: () => EngineError | undefined) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#whyNone = whyNone;
  }

  /** Lets it wait; `sendWaiting` sends it. */
  add<Result>(operation: Operation<Result>, onOutcome?: OnOutcome): Promise<Result> {
    const { path } = operation;
    const xid = this.#nextXid;
    const writer = new JuteWriter().int(xid).int(operation.code);
    operation.write(writer);
    const frame = writer.frame();
    if (frame.length > REQUEST_BYTES_MAX) {
      return Promise.reject(new ZooKeeperError('TOO_LARGE', { path }));
    }
    if (!this.#hasRoomFor(frame)) return Promise.reject(new ZooKeeperError('QUEUE_FULL', { path }));
    this.#nextXid = xid === XID_MAX ? 1 : xid + 1;
    return new Promise((resolve, reject) => {
      const complete = (header: AnswerHeader, body: JuteReader): void => {
        if (header.error !== 0) {
          const error = errorOfAnswer(header.error, path);
          if (error.reason === 'NO_NODE') onOutcome?.('not-found');
          reject(error);
          return;
        }
        const result = operation.read(body);
        onOutcome?.('found');
        resolve(result);
      };
      this.#push({
        xid,
        frame,
        path,
        complete,
        fail: reject,
        timeLimit: undefined,
        isSent: false,
        isSettled: false,
      });
    });
  }

  /** Hands over the frames of all that waits, in order. */
  sendWaiting(send: (frame: Uint8Array) => void): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.isSent = true;
      this.#sent.push(next, next.frame.length);
      send(next.frame);
    }
  }

  /**
   * Settles the request that an answer is for.
   *
   * @throws EngineError PACKET_MALFORMED when it is for another one than the oldest, or does not
   *   decode; the request then fails with the connection.
   */
  settle(header: AnswerHeader, body: JuteReader): void {
    const request = this.#sent.peek();
    if (request?.xid !== header.xid) {
      throw malformed(`an answer to request ${header.xid}, where ${request?.xid} is the next`);
    }
    if (!request.isSettled) {
      try {
        request.complete(header, body);
      } catch (error) {
        if (!(error instanceof ZooKeeperError)) throw error;
        request.fail(error); // What a multi says about its parts.
      }
    }
    this.#sent.shift();
    settled(request);
  }

  /** The connection broke: what was sent has an unknown fate. */
  failSent(cause: unknown): void {
    this.#failAll(this.#sent, (path) => {
      return new ZooKeeperError('CONNECTION_LOST', { path, isUncertain: true, cause });
    });
  }

  /** The session is over. */
  failEverything(reason: ZooKeeperReason): void {
    this.#failAll(this.#sent, (path) => new ZooKeeperError(reason, { path, isUncertain: true }));
    this.#failAll(this.#waiting, (path) => new ZooKeeperError(reason, { path }));
  }

  #hasRoomFor(frame: Uint8Array): boolean {
    const { bytes, length } = this.#waiting;
    return (
      length + this.#sent.length < REQUESTS_MAX &&
      bytes + this.#sent.bytes + frame.length <= REQUESTS_BYTES_MAX
    );
  }

  #push(request: Request): void {
    this.#waiting.push(request, request.frame.length);
    request.timeLimit = this.#clock.after(this.#limitMs, () => this.#onLimit(request));
  }

  #onLimit(request: Request): void {
    settled(request);
    while (this.#waiting.peek()?.isSettled) this.#waiting.shift(); // Q2: it is the first, or sent.
    const { path, isSent: isUncertain } = request;
    const cause = this.#whyNone();
    const why = cause === undefined ? '' : `: ${cause.message}`;
    const detail = `${this.#limitMs} ms${why}`;
    request.fail(new ZooKeeperError('TIMED_OUT', { path, isUncertain, detail, cause }));
  }

  #failAll(
    queue: BoundedQueue<Request>,
    errorOf: (path: string | undefined) => ZooKeeperError,
  ): void {
    for (let request = queue.shift(); request !== undefined; request = queue.shift()) {
      if (!request.isSettled) request.fail(errorOf(request.path));
      settled(request);
    }
  }
}

function settled(request: Request): void {
  request.isSettled = true;
  request.timeLimit?.cancel();
}
