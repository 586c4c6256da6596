import type { EngineError } from '../base/errors.ts';
import {
  type Address,
  addressText,
  type ByteStream,
  type Listener,
  type Network,
} from './network.ts';
import { PacketConnection, type PacketConnectionOptions } from './packet-connection.ts';

/** Far above any topology's number of containers or of instances in one container. */
const CONNECTIONS_MAX = 4096;

export interface PacketServerOptions extends PacketConnectionOptions {
  readonly network: Network;
  readonly address: Address;
  /** Which peers may connect; all when absent. A refused one is dropped unread. */
  readonly accepts?: (remote: string) => boolean;
  readonly onConnection?: (connection: PacketConnection) => void;
  readonly connectionsMax?: number;
}

/** Listens on one address and keeps track of the connections that it accepted. */
export class PacketServer {
  readonly address: Address;
  readonly #listener: Listener;
  readonly #connections: Set<PacketConnection>;

  /** @throws EngineError PORT_IN_USE, with the address. */
  static async listen(options: PacketServerOptions): Promise<PacketServer> {
    const connections = new Set<PacketConnection>();
    const listener = await options.network.listen(options.address, (stream) => {
      acceptStream(stream, connections, options);
    });
    return new PacketServer(listener, connections);
  }

  private constructor(listener: Listener, connections: Set<PacketConnection>) {
    this.address = listener.address;
    this.#listener = listener;
    this.#connections = connections;
  }

  /** The connections that are open. */
  get connections(): ReadonlySet<PacketConnection> {
    return this.#connections;
  }

  get addressText(): string {
    return addressText(this.address);
  }

  /** Stops listening and closes every connection; resolves when all are gone. Idempotent. */
  async close(reason?: EngineError): Promise<void> {
    this.#listener.close();
    const connections = [...this.#connections];
    for (const connection of connections) connection.close(reason);
    await Promise.all(connections.map((connection) => connection.closed));
  }
}

function acceptStream(
  stream: ByteStream,
  connections: Set<PacketConnection>,
  options: PacketServerOptions,
): void {
  const { connectionsMax = CONNECTIONS_MAX, logger, accepts } = options;
  const why =
    connections.size >= connectionsMax
      ? `there are ${connectionsMax} connections already`
      : accepts?.(stream.remote) === false
        ? 'this peer may not connect'
        : undefined;
  if (why !== undefined) {
    logger.warn('connection refused', { remote: stream.remote, reason: why });
    stream.destroy();
    return;
  }
  const connection = new PacketConnection(stream, options);
  connections.add(connection);
  connection.onClose(() => connections.delete(connection));
  options.onConnection?.(connection);
}
