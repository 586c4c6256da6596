/*
  The network as the engine sees it: addresses, and streams of bytes between them. Production uses
  TcpNetwork; a simulator brings its own. Packets, requests and reconnecting are built on top of it.
*/

import type { EngineError } from '../base/errors.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a stream tells its one owner. Calls never overlap. */
export interface ByteStreamEvents {
  /** Bytes in order. `chunk` is written again as soon as this returns. */
  onData(chunk: Buffer): void;
  /** The last call: the stream is gone, for the reason given, or because the peer ended it. */
  onClosed(error: EngineError | undefined): void;
}

/** One connection, without any framing. */
export interface ByteStream {
  /** `host:port` of the other side, for people. */
  readonly remote: string;
  /** Begins to read; called once, before anything else. */
  start(events: ByteStreamEvents): void;
  /**
   * Writes the chunks one after the other, with a single system call where that is possible. They
   * must not change until `onWritten` says that the network has its own copy. After the stream is
   * gone `onWritten` may never come; the chunks are free from `onClosed` on.
   */
  write(chunks: readonly Uint8Array[], onWritten: () => void): void;
  /** Stops reading; at most the bytes already on their way in this process still come. */
  pause(): void;
  resume(): void;
  /** Ends our side after everything that was written; the peer's bytes are still read. */
  end(): void;
  /** Drops the stream at once. Idempotent. */
  destroy(): void;
}

export interface Listener {
  /** Where it really listens: port 0 has been replaced by the port that was chosen. */
  readonly address: Address;
  /** Accepts nothing more; streams that were accepted live on. Idempotent. */
  close(): void;
}

/** What a client needs of a network. */
export interface Dialer {
  /**
   * @throws EngineError CONNECTION_REFUSED when nobody listens there, CONNECTION_LOST when the host
   *   cannot be reached, CONNECTION_CLOSED when `signal` was aborted first; all are retryable.
   */
  connect(address: Address, signal?: AbortSignal): Promise<ByteStream>;
}

export interface Network extends Dialer {
  /**
   * @throws EngineError PORT_IN_USE, with the address, or CONNECTION_LOST when it cannot listen.
   */
  listen(address: Address, onStream: (stream: ByteStream) => void): Promise<Listener>;
}

export function addressText(address: Address): string {
  return address.host.includes(':')
    ? `[${address.host}]:${address.port}`
    : `${address.host}:${address.port}`;
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.host === other.host && one.port === other.port;
}
