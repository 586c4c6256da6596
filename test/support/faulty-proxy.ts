import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { resetSocket } from './reset-socket.ts';

/** What the proxy does with the bytes that it carries. */
export type Fault =
  | { readonly kind: 'none' }
  /** Reads everything and passes nothing on, without a sign to either side. */
  | { readonly kind: 'blackhole' }
  /** Passes everything on later, in order. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Resets both sides after so many bytes more, then passes all on again. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

/** Stands between two processes on one machine and breaks what they say as the test wants. */
export class FaultyProxy {
  fault: Fault = { kind: 'none' };
  /** Connections that were dialled, whatever became of them. */
  connections = 0;
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #sockets = new Set<Socket>();

  static async start(t: TestContext, targetPort: number): Promise<FaultyProxy> {
    const server = createServer();
    const proxy = new FaultyProxy(server, targetPort);
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    t.after(() => proxy.close());
    return proxy;
  }

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.#targetPort = targetPort;
    server.on('connection', (socket) => this.#accept(socket));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection; new ones are accepted. */
  cutNow(): void {
    for (const socket of this.#sockets) resetSocket(socket);
  }

  close(): void {
    this.#server.close();
    this.cutNow();
  }

  #accept(client: Socket): void {
    this.connections += 1;
    const target = connect({ host: '127.0.0.1', port: this.#targetPort });
    this.#join(client, target);
    this.#join(target, client);
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (chunk) => this.#carry(chunk, to));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }

  #carry(chunk: Buffer, to: Socket): void {
    const { fault } = this;
    switch (fault.kind) {
      case 'none':
        to.write(chunk);
        return;
      case 'blackhole':
        return;
      case 'delay':
        systemClock.after(fault.ms, () => to.write(chunk));
        return;
      case 'cut':
        this.#carryUntilCut(chunk, to, fault.afterBytes);
    }
  }

  #carryUntilCut(chunk: Buffer, to: Socket, afterBytes: number): void {
    to.write(chunk.subarray(0, afterBytes));
    if (chunk.length < afterBytes) {
      this.fault = { kind: 'cut', afterBytes: afterBytes - chunk.length };
      return;
    }
    this.fault = { kind: 'none' };
    this.cutNow();
  }
}
