import {
  type AddressInfo,
  connect,
  createServer,
  Socket,
  type SocketConstructorOpts,
} from 'node:net';
import { listenError } from './listen-error.ts';
import type { Listener, Network } from './network.ts';
import {
  abortedError,
  Reading,
  SOCKET_OPTIONS,
  SocketStream,
  untilConnected,
} from './socket-stream.ts';

/**
 * How many may wait to be accepted. When a plan comes, half of all stream managers dial at once;
 * of those beyond this number some are reset. Heron's 100 is too few for them (docs/scale.md).
 */
const BACKLOG = 4096;

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

  async connect(address, signal) {
    if (signal?.aborted) throw abortedError(address);
    const reading = new Reading();
    const { host, port } = address;
    const socket = connect({ host, port, onread: reading.onRead, ...SOCKET_OPTIONS });
    socket.pause(); // Until somebody listens (`start`).
    await untilConnected(socket, { address, event: 'connect', signal });
    return new SocketStream(socket, reading);
  },
};

/** Node's own name for what is behind a socket. */
const HANDLE = '_handle';

/**
 * Node's servers have no `onread`. So the connection moves, before anything of it has been read, to
 * a socket that has; this takes a field of Node's that has no name in its documentation. Where it
 * is missing the socket stays, and reads into buffers of its own.
 */
function acceptedStream(accepted: Socket): SocketStream {
  const reading = new Reading();
  const owner = accepted as unknown as { [HANDLE]?: object | null };
  const handle = owner[HANDLE];
  if (!handle) return new SocketStream(accepted, reading);
  owner[HANDLE] = null;
  accepted.destroy();
  const options = { handle, onread: reading.onRead, pauseOnCreate: true };
  return new SocketStream(new Socket(options as SocketConstructorOpts), reading);
}
