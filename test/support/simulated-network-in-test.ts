import assert from 'node:assert/strict';
import type { EngineError } from '../../src/base/errors.ts';
import type { Address, ByteStream, Listener, Network } from '../../src/net/network.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import { SimulatedNetwork } from '../../src/simulation/kernel/simulated-network.ts';
import type { SimulatedThread } from '../../src/simulation/kernel/simulated-thread.ts';
import { inThread, untilIdle } from './in-simulated-thread.ts';

export const SERVER: Address = { host: '127.0.0.1', port: 4000 };

/** One end of a connection, and all that it has heard. */
export class HeardStream {
  readonly stream: ByteStream;
  readonly heard: Buffer[] = [];
  /** The time of each chunk, in milliseconds. */
  readonly heardAtMs: number[] = [];
  closed: { readonly error: EngineError | undefined } | undefined;
  written = 0;
  readonly #thread: SimulatedThread;

  constructor(stream: ByteStream, thread: SimulatedThread) {
    this.stream = stream;
    this.#thread = thread;
    this.closed = undefined;
  }

  start(): this {
    this.stream.start({
      onData: (chunk) => {
        assert.equal(this.closed, undefined, 'nothing comes after the end');
        this.heard.push(Buffer.from(chunk));
        this.heardAtMs.push(this.#thread.nowUs / 1000);
      },
      onClosed: (error) => {
        assert.equal(this.closed, undefined, 'it ends once');
        this.closed = { error };
      },
    });
    return this;
  }

  get isClosed(): boolean {
    return this.closed !== undefined;
  }

  get text(): string {
    return Buffer.concat(this.heard).toString();
  }

  get bytes(): number {
    return this.heard.reduce((sum, { length }) => sum + length, 0);
  }

  write(...chunks: readonly (string | Uint8Array)[]): void {
    const all = chunks.map((chunk) => Buffer.from(chunk));
    this.stream.write(all, () => {
      this.written += 1;
    });
  }
}

/** A client and a server, each a process on a host, and a connection between them. */
export class NetworkInTest {
  readonly kernel: Kernel;
  readonly network: SimulatedNetwork;
  readonly clientThread: SimulatedThread;
  readonly serverThread: SimulatedThread;
  readonly client: Network;
  readonly server: Network;

  constructor(seed = 1, hosts: readonly [string, string] = ['machine-1', 'machine-1']) {
    this.kernel = new Kernel({ seed });
    this.network = new SimulatedNetwork(this.kernel);
    this.clientThread = this.kernel.createThread('client');
    this.serverThread = this.kernel.createThread('server');
    this.client = this.network.portOf(this.clientThread, hosts[0]);
    this.server = this.network.portOf(this.serverThread, hosts[1]);
  }

  listen(
    address: Address = SERVER,
    onStream: (stream: ByteStream) => void = () => {},
  ): Promise<Listener> {
    return this.inServer(() => this.server.listen(address, onStream));
  }

  /** Both ends of a new connection, of which both have started. */
  async connect(address: Address = SERVER): Promise<readonly [HeardStream, HeardStream]> {
    let far: HeardStream | undefined;
    await this.listen(address, (stream) => {
      far = new HeardStream(stream, this.serverThread).start();
    });
    const near = await this.dial(address);
    await this.idle();
    assert.ok(far !== undefined, 'the server got its end');
    return [near, far];
  }

  dial(address: Address = SERVER): Promise<HeardStream> {
    return this.inClient(async () => {
      const stream = await this.client.connect(address);
      return new HeardStream(stream, this.clientThread).start();
    });
  }

  inClient<T>(body: () => T | Promise<T>): Promise<T> {
    return inThread(this.kernel, this.clientThread, body);
  }

  inServer<T>(body: () => T | Promise<T>): Promise<T> {
    return inThread(this.kernel, this.serverThread, body);
  }

  idle(): Promise<void> {
    return untilIdle(this.kernel);
  }
}
