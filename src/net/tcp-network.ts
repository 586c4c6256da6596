import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type EngineError, environmentError, messageOf } from '../base/errors.ts';
import {
  type Address,
  addressText,
  type ByteStream,
  type ByteStreamEvents,
  type Listener,
  type Network,
} from './network.ts';

/**
 * Heron's own value: a peer whose machine vanished is noticed even where nobody sends heartbeats.
 */
const KEEP_ALIVE_IDLE_MS = 300_000;
/** Heron's own value. */
const BACKLOG = 100;

const SOCKET_OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_IDLE_MS,
} as const;

/** TCP by node:net. Listeners get SO_REUSEADDR from Node, so that a restart finds its port free. */
export const tcpNetwork: Network = {
  listen(address, onStream) {
    return new Promise((resolve, reject) => {
      const server = createServer(SOCKET_OPTIONS, (socket) => onStream(new TcpStream(socket)));
      // Stays on: an accept that fails later (too many open files) concerns one peer, which dials
      // again.
      server.on('error', (cause) => reject(listenError(address, cause)));
      server.listen({ host: address.host, port: address.port, backlog: BACKLOG }, () => {
        const { port } = server.address() as AddressInfo;
        const listener: Listener = {
          address: { host: address.host, port },
          close: () => void server.close(),
        };
        resolve(listener);
      });
    });
  },

  connect(address, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortedError(address));
        return;
      }
      const socket = connect({ host: address.host, port: address.port, ...SOCKET_OPTIONS });
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
      socket.once('connect', () => {
        signal?.removeEventListener('abort', abort);
        socket.off('error', fail);
        resolve(new TcpStream(socket));
      });
    });
  },
};

class TcpStream implements ByteStream {
  readonly remote: string;
  readonly #socket: Socket;
  #error: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
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
    socket.on('data', (chunk: Buffer) => events.onData(chunk));
    // No Heron peer ends one direction only: its end of file means that it is gone.
    socket.on('end', () => socket.destroy());
    socket.on('close', onClosed);
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

function listenError(address: Address, cause: Error): EngineError {
  const where = addressText(address);
  return codeOf(cause) === 'EADDRINUSE'
    ? environmentError('PORT_IN_USE', `${where} is in use by another process`, { cause })
    : environmentError('CONNECTION_LOST', `cannot listen on ${where}: ${messageOf(cause)}`, {
        cause,
      });
}

function connectError(address: Address, cause: Error): EngineError {
  const where = addressText(address);
  const retryable = true;
  return codeOf(cause) === 'ECONNREFUSED'
    ? environmentError('CONNECTION_REFUSED', `nobody listens on ${where}`, { retryable, cause })
    : environmentError('CONNECTION_LOST', `cannot reach ${where}: ${messageOf(cause)}`, {
        retryable,
        cause,
      });
}

function abortedError(address: Address): EngineError {
  const message = `the attempt to connect to ${addressText(address)} was given up`;
  return environmentError('CONNECTION_CLOSED', message, { retryable: true });
}

function codeOf(error: Error): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
