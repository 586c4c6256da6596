import { environmentError } from '../../src/base/errors.ts';
import {
  type Address,
  addressText,
  type ByteStream,
  type ByteStreamEvents,
  type Listener,
  type Network,
} from '../../src/net/network.ts';
import { FrameAssembler } from '../../src/wire/frame.ts';

interface PendingWrite {
  readonly bytes: Buffer;
  readonly onWritten: () => void;
}

/** A packet as text that tests can compare: its name and its payload as latin1. */
export interface SeenPacket {
  readonly typeName: string;
  readonly payload: string;
  readonly requestId: Uint8Array;
}

/**
 * A stream whose network is the test: writes wait until they are taken, bytes come when they are
 * fed.
 */
export class ScriptedStream implements ByteStream {
  readonly remote: string;
  isReading = true;
  isEnded = false;
  isDestroyed = false;
  #events: ByteStreamEvents | undefined;
  #writes: PendingWrite[] = [];
  readonly #assembler = new FrameAssembler(Number.MAX_SAFE_INTEGER);

  constructor(remote = 'peer:1') {
    this.remote = remote;
  }

  start(events: ByteStreamEvents): void {
    this.#events = events;
  }

  write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    this.#writes.push({ bytes: Buffer.concat(chunks), onWritten });
  }

  pause(): void {
    this.isReading = false;
  }

  resume(): void {
    this.isReading = true;
  }

  end(): void {
    this.isEnded = true;
  }

  destroy(): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    queueMicrotask(() => this.#events?.onClosed(undefined));
  }

  /** Bytes arrive from the peer, in memory that is used again at once. */
  feed(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes);
    this.#events?.onData(chunk);
    chunk.fill(0xee);
  }

  /** The peer ends the connection. */
  hangUp(): void {
    this.destroy();
  }

  /** Writes that are with the network and not taken yet. */
  get pendingWrites(): number {
    return this.#writes.length;
  }

  get pendingBytes(): number {
    return this.#writes.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Takes the pending writes as they are. */
  takeBytes(): Buffer {
    const writes = this.#writes;
    this.#writes = [];
    const taken = Buffer.concat(writes.map(({ bytes }) => bytes));
    for (const { onWritten } of writes) onWritten();
    return taken;
  }

  /** Takes the pending writes, and returns the packets that they complete. */
  take(): SeenPacket[] {
    const writes = this.#writes;
    this.#writes = [];
    const seen: SeenPacket[] = [];
    for (const { bytes } of writes) {
      this.#assembler.feed(bytes);
      for (;;) {
        const packet = this.#assembler.next();
        if (packet === undefined) break;
        const payload = Buffer.from(packet.payload).toString('latin1');
        seen.push({ typeName: packet.typeName, payload, requestId: packet.requestId.slice() });
      }
    }
    for (const { onWritten } of writes) onWritten();
    return seen;
  }
}

export interface Dial {
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
  /** Answers the dial; the stream is the client's side. */
  accept(stream: ScriptedStream): void;
  refuse(): void;
}

/** A network without listeners, on which the test answers each dial. */
export class ScriptedNetwork implements Network {
  readonly dials: Dial[] = [];

  listen(address: Address): Promise<Listener> {
    return Promise.reject(new Error(`nothing listens on ${addressText(address)} in this network`));
  }

  connect(address: Address, signal?: AbortSignal): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      this.dials.push({
        address,
        signal,
        accept: resolve,
        refuse: () => {
          const message = `nobody listens on ${addressText(address)}`;
          reject(environmentError('CONNECTION_REFUSED', message, { retryable: true }));
        },
      });
    });
  }
}
