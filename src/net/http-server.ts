import { createServer, type Server, type Socket } from 'node:net';
import { assert } from '../base/assert.ts';
import type { HttpServer, HttpServerOptions } from './http-rules.ts';
import type { HttpServing } from './http-serving.ts';
import { listenError } from './listen-error.ts';

/*
  A small HTTP server for the ports of the engine's processes. On Node alone: each process pays for
  its imports at every start, and Heron's clients read the reason phrase of the status line, which
  frameworks on the fetch interfaces do not let through.

  Most ports of most processes are never asked anything, and `node:http` takes 25 ms to load. So a
  port listens without it, and loads it with the first connection.

    listen ──first connection──> load ──> serve (http-serving.ts): that connection, and all others
*/

export {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  type HttpServer,
  type HttpServerOptions,
  type ListenHttp,
  refusalOf,
  textAnswer,
} from './http-rules.ts';

const CONNECTIONS_MAX = 128;

export function listenHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port } = options;
  const server = createServer({ pauseOnConnect: true });
  server.maxConnections = CONNECTIONS_MAX;
  const early = new EarlyServer(server, options);
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(listenError({ host, port }, cause));
    });
    server.listen(port, host, () => {
      const address = server.address();
      assert(typeof address === 'object' && address !== null, 'a TCP server has an address');
      resolve({ port: address.port, close: () => early.close() });
    });
  });
}

/** Until there is somebody to serve, connections wait here, unread. */
class EarlyServer {
  readonly #server: Server;
  readonly #options: HttpServerOptions;
  readonly #waiting = new Set<Socket>();
  #serving: Promise<HttpServing> | undefined;
  #isClosed = false;

  constructor(server: Server, options: HttpServerOptions) {
    this.#server = server;
    this.#options = options;
    server.on('connection', (socket) => this.#onConnection(socket));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#waiting) socket.destroy();
    const serving = await this.#serving;
    if (serving !== undefined) await serving.close();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #onConnection(socket: Socket): void {
    this.#waiting.add(socket);
    // A peer that is gone before anybody serves it is nobody's concern.
    const forget = (): void => void this.#waiting.delete(socket);
    socket.on('error', forget).on('close', forget);
    this.#serving ??= this.#load();
    void this.#serving.then((serving) => {
      this.#waiting.delete(socket);
      socket.off('error', forget).off('close', forget);
      if (this.#isClosed) socket.destroy();
      else if (!socket.destroyed) serving.adopt(socket);
      return undefined;
    });
  }

  async #load(): Promise<HttpServing> {
    const { serveHttp } = await import('./http-serving.ts');
    return serveHttp(this.#server, this.#options);
  }
}
