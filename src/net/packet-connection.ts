/*
  One connection with a peer: packets both ways over a ByteStream.

  Its life:  open ──close()──> closing ──peer ends, or LINGER_MS──> gone
               └──abort(), peer ends, stream breaks────────────────> gone

  C1. `onClose` listeners are called exactly once, when the connection leaves `open`; every pending
      request fails at the same moment. From then on no handler is called and `send` refuses.
  C2. After `close` what was sent before it still goes out. The peer's bytes are read and dropped
      meanwhile: a socket that is closed with unread bytes resets the connection, and the peer would
      lose our last packet, which is often the one that says why.
  C3. What the waiter of a request does up to its next real wait happens before the next packet is
      handled. A peer may send a response and right behind it a message that makes sense only after
      it.
  C4. Foreign or broken bytes end this connection with one warning, and touch nothing else.
*/

import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, environmentError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { encodePacket, FrameAssembler, NO_REQUEST_ID, type Packet } from '../wire/frame.ts';
import type { MessageType, RequestType } from '../wire/message-type.ts';
import type { ByteStream } from './network.ts';
import { PendingRequests } from './pending-requests.ts';
import { type OnDone, SendQueue } from './send-queue.ts';

/**
 * Two of the largest packets that any Heron process accepts (16 MB, the topology master's limit).
 */
const CONTROL_QUEUE_BYTES_MAX = 32 * 1024 * 1024;
/** A backstop: credits keep the data queue far below. */
const DATA_QUEUE_BYTES_MAX = 256 * 1024 * 1024;
/** How long a peer may take to read our last packets; loopback needs well under a millisecond. */
const LINGER_MS = 1000;

/** What a connection needs of MessageHandlers. */
export interface PacketDispatcher {
  /**
   * False when nobody handles packets of this type. Throws an EngineError to end the connection.
   */
  dispatch(packet: Packet, connection: PacketConnection): boolean;
}

export interface PacketConnectionOptions {
  readonly handlers: PacketDispatcher;
  /** Largest `length` field accepted from the peer; see Heron's settings for packet sizes. */
  readonly packetBytesMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly controlQueueBytesMax?: number;
  readonly dataQueueBytesMax?: number;
}

export class PacketConnection {
  /** `host:port` of the peer, for people. */
  readonly remote: string;
  /** Settles when the stream is really gone, after any lingering; never rejects. */
  readonly closed: Promise<void>;
  readonly #stream: ByteStream;
  readonly #handlers: PacketDispatcher;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #assembler: FrameAssembler;
  readonly #queue: SendQueue;
  readonly #requests: PendingRequests;
  readonly #resume = (): void => this.#continueAfterResponse();
  readonly #resolveClosed: () => void;
  #closeListeners: ((reason: EngineError) => void)[] = [];
  #closeReason: EngineError | undefined;
  #lingering: Timer | undefined;
  #holdsBack = false;
  #unknownPackets = 0;
  #chunksReceived = 0;

  constructor(stream: ByteStream, options: PacketConnectionOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.remote = stream.remote;
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#stream = stream;
    this.#handlers = options.handlers;
    this.#logger = options.logger;
    this.#clock = options.clock;
    this.#assembler = new FrameAssembler(options.packetBytesMax);
    this.#queue = new SendQueue(stream, {
      controlBytesMax: options.controlQueueBytesMax ?? CONTROL_QUEUE_BYTES_MAX,
      dataBytesMax: options.dataQueueBytesMax ?? DATA_QUEUE_BYTES_MAX,
    });
    this.#requests = new PendingRequests(options.clock, options.random);
    stream.start({
      onData: (chunk) => this.#onData(chunk),
      onClosed: (error) => this.#onStreamClosed(error),
    });
  }

  get isOpen(): boolean {
    return this.#closeReason === undefined;
  }

  /** Why the connection is not open any more. */
  get closeReason(): EngineError | undefined {
    return this.#closeReason;
  }

  /** Bytes that were sent and of which the operating system has no copy yet. */
  get queuedBytes(): number {
    return this.#queue.bytes;
  }

  /** Pieces in which bytes have come from the peer; more of them: it lives. */
  get chunksReceived(): number {
    return this.#chunksReceived;
  }

  /** Packets of types that nobody handles; a newer peer may send them, so they are no error. */
  get unknownPackets(): number {
    return this.#unknownPackets;
  }

  /** Sends a one-way message ahead of waiting data. False, and nothing sent, when not open. */
  send<T>(type: MessageType<T>, value: T): boolean {
    return this.#sendControl(type.typeName, NO_REQUEST_ID, type.encode(value));
  }

  /** As `send`, for a whole packet that others send too (broadcast.ts): its bytes are fixed. */
  sendShared(packet: Uint8Array): boolean {
    if (this.#closeReason !== undefined) return false;
    if (this.#queue.pushControl(packet)) return true;
    this.abort(queueFullError(this.remote, 'control'));
    return false;
  }

  /**
   * Sends a request and waits for its response.
   *
   * @throws EngineError REQUEST_TIMEOUT, or CONNECTION_CLOSED when the connection ends first.
   */
  request<Q, R>(
    type: RequestType<Q, R>,
    value: Q,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<R> {
    if (this.#closeReason !== undefined) {
      return Promise.reject(unansweredError(type.request.typeName, this.#closeReason));
    }
    const { requestId, response } = this.#requests.open(type, timeoutMs);
    this.#sendControl(type.request.typeName, requestId, type.request.encode(value));
    return response;
  }

  /** Answers a request by its id. False when not open: the peer does not wait any more. */
  respond<R>(requestId: Uint8Array, type: MessageType<R>, value: R): boolean {
    return this.#sendControl(type.typeName, requestId, type.encode(value));
  }

  /**
   * Sends packets whose bytes the caller made: `header` followed by `payload`. They keep their
   * order among each other, and must not change until `onDone` (send-queue.ts, Q4). False, and
   * `onDone` is never called, when not open. Meant for one function that is passed each time: no
   * closure per packet is needed.
   */
  sendPacket(header: Uint8Array, payload: Uint8Array, onDone?: OnDone): boolean {
    if (this.#closeReason !== undefined) return false;
    if (this.#queue.pushData(header, payload, onDone)) return true;
    this.abort(queueFullError(this.remote, 'data'));
    return false;
  }

  /** Calls `listener` when the connection leaves `open` (C1); at once when it has already. */
  onClose(listener: (reason: EngineError) => void): void {
    if (this.#closeReason === undefined) this.#closeListeners.push(listener);
    else listener(this.#closeReason);
  }

  /**
   * Stops reading, for peers that know no credits. Packets already read (one chunk at most) still
   * come.
   */
  pauseReading(): void {
    this.#stream.pause();
  }

  resumeReading(): void {
    this.#stream.resume();
  }

  /** Ends the connection after what was sent before (C2). Idempotent. */
  close(reason: EngineError = closedHereError(this.remote)): void {
    if (this.#closeReason !== undefined) return;
    this.#lingering = this.#clock.after(LINGER_MS, () => this.#stream.destroy());
    this.#stream.resume();
    this.#queue.end();
    this.#leaveOpen(reason);
  }

  /** Ends the connection at once; what the operating system has no copy of is lost. Idempotent. */
  abort(reason: EngineError = closedHereError(this.remote)): void {
    this.#stream.destroy();
    this.#leaveOpen(reason);
    this.#queue.fail();
  }

  /** A handler failed: its EngineError ends the connection, anything else ends the process. */
  failHandler(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    if (this.#closeReason !== undefined) return;
    this.#logger.warn('connection closed: its packet could not be handled', {
      remote: this.remote,
      code: error.code,
      reason: error.message,
    });
    this.close(error);
  }

  #sendControl(typeName: string, requestId: Uint8Array, payload: Uint8Array): boolean {
    if (this.#closeReason !== undefined) return false;
    return this.sendShared(encodePacket(typeName, requestId, payload));
  }

  #onData(chunk: Buffer): void {
    this.#chunksReceived += 1;
    if (this.#closeReason !== undefined) return;
    // On a real socket the microtask of C3 has always run by now; a simulated one owes us no such
    // thing.
    if (this.#holdsBack) this.#continueAfterResponse();
    this.#assembler.feed(chunk);
    this.#handlePackets();
    if (this.#holdsBack) this.#assembler.keepRest();
  }

  #handlePackets(): void {
    while (this.#closeReason === undefined && !this.#holdsBack) {
      try {
        const packet = this.#assembler.next();
        if (packet === undefined) return;
        this.#handlePacket(packet);
      } catch (error) {
        this.failHandler(error);
      }
    }
  }

  #handlePacket(packet: Packet): void {
    if (packet.hasRequestId && this.#requests.settle(packet)) {
      // A tick asked for by a microtask comes after all microtasks, so after the waiter's part
      // (C3).
      this.#holdsBack = true;
      queueMicrotask(() => process.nextTick(this.#resume));
      return;
    }
    if (this.#handlers.dispatch(packet, this)) return;
    this.#unknownPackets += 1;
    this.#logger.debug('ignored a packet that nobody handles', {
      remote: this.remote,
      typeName: packet.typeName,
      unknownPackets: this.#unknownPackets,
    });
  }

  #continueAfterResponse(): void {
    if (!this.#holdsBack) return;
    this.#holdsBack = false;
    this.#handlePackets();
  }

  #onStreamClosed(error: EngineError | undefined): void {
    this.#lingering?.cancel();
    this.#leaveOpen(error ?? peerEndedError(this.remote));
    this.#queue.fail();
    this.#resolveClosed();
  }

  #leaveOpen(reason: EngineError): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#requests.failAll((typeName) => unansweredError(typeName, reason));
    const listeners = this.#closeListeners;
    this.#closeListeners = [];
    for (const listener of listeners) listener(reason);
  }
}

function closedHereError(remote: string): EngineError {
  return environmentError('CONNECTION_CLOSED', `the connection with ${remote} was closed here`);
}

function peerEndedError(remote: string): EngineError {
  return environmentError('CONNECTION_LOST', `${remote} ended the connection`, { retryable: true });
}

function queueFullError(remote: string, lane: 'control' | 'data'): EngineError {
  const message = `${remote} does not read: the queue of ${lane} packets for it is full`;
  return environmentError('QUEUE_FULL', message, { retryable: true });
}

function unansweredError(typeName: string, cause: EngineError): EngineError {
  const message = `${typeName} was not answered: ${cause.message}`;
  return environmentError('CONNECTION_CLOSED', message, { retryable: true, cause });
}
