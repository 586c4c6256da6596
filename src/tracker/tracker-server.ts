import { createAdaptorServer } from '@hono/node-server';
import { assert } from '../base/assert.ts';
import { listenError } from '../net/listen-error.ts';

/* Where a Tracker listens. */

export interface TrackerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ListeningServer {
  readonly address: TrackerAddress;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

export interface Answering {
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
}

/** People's browsers hold six each; each may cost the memory of one answer that is not read. */
const CONNECTIONS_MAX = 256;
/** A request is a few hundred bytes; whoever needs longer for it does not mean well. */
const REQUEST_LIMIT_MS = 10_000;
const HEADER_BYTES_MAX = 16 * 1024;

/** @throws EngineError PORT_IN_USE, or CONNECTION_LOST when there is no such address here. */
export function listenFor(
  app: Answering,
  { host, port }: TrackerAddress,
): Promise<ListeningServer> {
  const server = createAdaptorServer({
    fetch: (request, env) => app.fetch(request, env),
    // The process has others who use them.
    overrideGlobalObjects: false,
    serverOptions: {
      requestTimeout: REQUEST_LIMIT_MS,
      headersTimeout: REQUEST_LIMIT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
  });
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve, reject) => {
    server.once('error', (cause: Error) => {
      reject(listenError({ host, port }, cause));
    });
    server.listen(port, host, () => {
      const address = server.address();
      assert(typeof address === 'object' && address !== null, 'a TCP server has an address');
      resolve({
        address: { host: address.address, port: address.port },
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      });
    });
  });
}
