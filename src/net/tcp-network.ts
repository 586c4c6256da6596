import {
  type AddressInfo,
  connect,
  createServer,
  type OnReadOpts,
  Socket,
  type SocketConstructorOpts,
} from 'node:net';
import { assertDefined } from '../base/assert.ts';
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
/**
 * How many may wait to be accepted. When a plan comes, half of all stream managers dial at once;
 * of those beyond this number some are reset. Heron's 100 is too few for them (docs/scale.md).
 */
const BACKLOG = 4096;

const SOCKET_OPTIONS = {
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

/** TCP by node:net. Listeners get SO_REUSEADDR from Node, so that a restart finds its port free. */
export const tcpNetwork: Network = {
  listen(address, onStream) {
    return new Promise((resolve, reject) => {
      const server = createServer({ ...SOCKET_OPTIONS, pauseOnConnect: true }, (socket) =>
        onStream(acceptedStream(socket)),
      );
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
      const reading = new Reading();
      const { host, port } = address;
      const socket = connect({ host, port, onread: reading.onRead, ...SOCKET_OPTIONS });
      socket.pause(); // Until somebody listens (`start`).
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
        resolve(new TcpStream(socket, reading));
      });
    });
  },
};

/** Node's own name for what is behind a socket. */
const HANDLE = '_handle';

/** Where the bytes of one socket go; the socket has to know before it has an owner. */
class Reading {
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

/**
 * Node's servers have no `onread`. So the connection moves, before anything of it has been read, to
 * a socket that has; this takes a field of Node's that has no name in its documentation. Where it
 * is missing the socket stays, and reads into buffers of its own.
 */
function acceptedStream(accepted: Socket): TcpStream {
  const reading = new Reading();
  const owner = accepted as unknown as { [HANDLE]?: object | null };
  const handle = owner[HANDLE];
  if (!handle) return new TcpStream(accepted, reading);
  owner[HANDLE] = null;
  accepted.destroy();
  const options = { handle, onread: reading.onRead, pauseOnCreate: true };
  return new TcpStream(new Socket(options as SocketConstructorOpts), reading);
}

class TcpStream implements ByteStream {
  readonly remote: string;
  readonly #socket: Socket;
  readonly #reading: Reading;
  #error: Error | undefined;

  constructor(socket: Socket, reading: Reading) {
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
    this.#reading.events = events;
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
