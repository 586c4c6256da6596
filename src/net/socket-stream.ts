/*
  What connections over node's sockets have in common, encrypted or not.
*/

import type { OnReadOpts, Socket } from 'node:net';
import { assertDefined } from '../base/assert.ts';
import { type EngineError, environmentError, messageOf } from '../base/errors.ts';
import { systemCodeOf } from '../base/system-codes.ts';
import { type Address, addressText, type ByteStream, type ByteStreamEvents } from './network.ts';

/**
 * Heron's own value: a peer whose machine vanished is noticed even where nobody sends heartbeats.
 */
const KEEP_ALIVE_IDLE_MS = 300_000;

export const SOCKET_OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_IDLE_MS,
} as const;

/** What one system call brings at most; larger reads gained nothing. */
const READ_BYTES = 64 * 1024;

/**
 * All sockets of a thread read into this memory, one after the other. Left to itself, Node makes a
 * buffer for each read, and these weigh so much with V8 that it collects all garbage several times
 * a second. A packet of 32 KiB took 22 us from end to end that way, and takes 12 so
 * (bench/connection.ts).
 */
let readBuffer: Buffer | undefined;

/** Where the bytes of one socket go; the socket has to know before it has an owner. */
export class Reading {
  events: ByteStreamEvents | undefined;
  readonly onRead: OnReadOpts = {
    buffer: (readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES)),
    callback: (bytes, buffer) => {
      const events = assertDefined(this.events, 'nothing is read before somebody listens');
      events.onData(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
      return true;
    },
  };
}

export class SocketStream implements ByteStream {
  readonly remote: string;
  readonly #socket: Socket;
  readonly #reading: Reading | undefined;
  #error: Error | undefined;

  /** `reading`: where the socket reads, when it was made so. */
  constructor(socket: Socket, reading?: Reading) {
    this.#socket = socket;
    this.#reading = reading;
    const { remoteAddress = 'unknown', remotePort = 0 } = socket;
    this.remote = addressText({ host: remoteAddress, port: remotePort });
    socket.on('error', (error) => {
      this.#error = error;
    });
  }

  start(events: ByteStreamEvents): void {
    const socket = this.#socket;
    const onClosed = (): void => events.onClosed(this.#lostError());
    if (socket.closed) {
      process.nextTick(onClosed);
      return;
    }
    if (this.#reading !== undefined) this.#reading.events = events;
    // A socket that reads into our memory never says this.
    socket.on('data', (chunk: Buffer) => events.onData(chunk));
    // No Heron peer ends one direction only: its end of file means that it is gone.
    socket.on('end', () => socket.destroy());
    socket.on('close', onClosed);
    socket.resume();
  }

  write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    const socket = this.#socket;
    const last = chunks.length - 1;
    const written = (error?: Error | null): void => {
      if (!error) onWritten();
    };
    socket.cork();
    for (let index = 0; index < last; index += 1) socket.write(chunks[index] as Uint8Array);
    socket.write(chunks[last] as Uint8Array, written);
    socket.uncork();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #lostError(): EngineError | undefined {
    if (this.#error === undefined) return undefined;
    const message = `the connection with ${this.remote} broke: ${this.#error.message}`;
    return environmentError('CONNECTION_LOST', message, { retryable: true, cause: this.#error });
  }
}

/** One dial. */
interface Attempt {
  readonly address: Address;
  /** By which the socket says that it can be used. */
  readonly event: 'connect' | 'secureConnect';
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits until a socket that was just made is connected, as `event` says; the attempt ends with it
 * when `signal` is aborted.
 *
 * @throws EngineError as Dialer.connect does.
 */
export function untilConnected(socket: Socket, { address, event, signal }: Attempt): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.destroy();
      reject(abortedError(address));
    };
    const fail = (cause: Error): void => {
      signal?.removeEventListener('abort', abort);
      reject(connectError(address, cause));
    };
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once(event, () => {
      signal?.removeEventListener('abort', abort);
      socket.off('error', fail);
      resolve();
    });
  });
}

function connectError(address: Address, cause: Error): EngineError {
  const where = addressText(address);
  const retryable = true;
  return systemCodeOf(cause) === 'ECONNREFUSED'
    ? environmentError('CONNECTION_REFUSED', `nobody listens on ${where}`, { retryable, cause })
    : environmentError('CONNECTION_LOST', `cannot reach ${where}: ${messageOf(cause)}`, {
        retryable,
        cause,
      });
}

export function abortedError(address: Address): EngineError {
  const message = `the attempt to connect to ${addressText(address)} was given up`;
  return environmentError('CONNECTION_CLOSED', message, { retryable: true });
}
