import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { delay, systemClock } from '../../src/base/clock.ts';
import { resetSocket } from './reset-socket.ts';

/** Who dialled whom. */
export interface Call {
  /** `stmgr-1`, `container_1_words_2`. */
  readonly from: string;
  readonly host: string;
  readonly port: number;
}

export type Choice = (call: Call) => boolean;

/** What a line does with its bytes. */
type Trouble =
  | { readonly kind: 'none' }
  /** Passes everything on later, in order. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Reads nothing: both sides see a peer that does not read. */
  | { readonly kind: 'hold' }
  /** The listener has seen the end; the dialler has not, and writes into nothing. */
  | { readonly kind: 'half-open' };

const NONE: Trouble = { kind: 'none' };

/**
 * Stands in all connections that the instances and stream managers of a cluster dial, so that a
 * test can delay, hold, half open and cut chosen ones of them: between two stream managers, or
 * between one and its instances. The processes know nothing of it but where it listens
 * (dial-switchboard.ts).
 *
 *     const board = await Switchboard.start(t);
 *     Object.assign(cluster.environment, board.environment);
 */
export class Switchboard {
  readonly #server: Server;
  readonly #lines = new Set<Line>();

  static async start(t: TestContext): Promise<Switchboard> {
    const server = createServer({ noDelay: true });
    const board = new Switchboard(server);
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    t.after(() => board.close());
    return board;
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (dialler) => this.#accept(dialler));
  }

  /** For all processes of the cluster. */
  get environment(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      HERON_TEST_SWITCHBOARD: String(port),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'dial-switchboard.ts')}`,
    };
  }

  /** The connections of now. */
  calls(choice: Choice = () => true): readonly Call[] {
    return this.#chosen(choice).map(({ call }) => call);
  }

  cut(choice: Choice): void {
    for (const line of this.#chosen(choice)) line.cut();
  }

  delay(choice: Choice, ms: number): void {
    for (const line of this.#chosen(choice)) line.trouble({ kind: 'delay', ms });
  }

  hold(choice: Choice): void {
    for (const line of this.#chosen(choice)) line.trouble({ kind: 'hold' });
  }

  halfOpen(choice: Choice): void {
    for (const line of this.#chosen(choice)) line.trouble({ kind: 'half-open' });
  }

  /** Ends all delays and holds. What is half open is cut: its bytes are lost. */
  heal(choice: Choice = () => true): void {
    for (const line of this.#chosen(choice)) line.heal();
  }

  close(): void {
    this.#server.close();
    this.cut(() => true);
  }

  #chosen(choice: Choice): readonly Line[] {
    return [...this.#lines].filter(({ call }) => choice(call));
  }

  #accept(dialler: Socket): void {
    let preface = Buffer.alloc(0);
    dialler.on('error', () => undefined);
    const onData = (chunk: Buffer): void => {
      preface = Buffer.concat([preface, chunk]);
      const end = preface.indexOf('\n');
      if (end === -1) return;
      dialler.off('data', onData);
      const [from = '', host = '', port = ''] = preface.toString('latin1', 0, end).split(' ');
      const call = { from, host, port: Number(port) };
      const line = new Line(dialler, call, () => this.#lines.delete(line));
      this.#lines.add(line);
      line.begin(preface.subarray(end + 1));
    };
    dialler.on('data', onData);
  }
}

/** The way from one of the two sockets to the other. Chunks keep their order, delayed or not. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  #isHeld = false;
  /** What was written last is still here. */
  #isFull = false;
  #delayed: Promise<void> | undefined;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
  }

  hold(): void {
    this.#isHeld = true;
    this.#readWhereRoom();
  }

  release(): void {
    this.#isHeld = false;
    this.#readWhereRoom();
  }

  carry(chunk: Buffer, delayMs: number): void {
    if (delayMs === 0 && this.#delayed === undefined) {
      this.#pass(chunk);
      return;
    }
    const behind = Promise.all([this.#delayed, delay(systemClock, delayMs)]);
    const passed = behind.then(() => {
      this.#pass(chunk);
      if (this.#delayed === passed) this.#delayed = undefined;
    });
    this.#delayed = passed;
  }

  /** Reads on when the other side has taken it, so that nothing piles up here. */
  #pass(chunk: Buffer): void {
    if (this.#to.destroyed || this.#to.write(chunk) || this.#isFull) return;
    this.#isFull = true;
    this.#readWhereRoom();
    this.#to.once('drain', () => {
      this.#isFull = false;
      this.#readWhereRoom();
    });
  }

  #readWhereRoom(): void {
    if (this.#isHeld || this.#isFull) this.#from.pause();
    else this.#from.resume();
  }
}

/** One connection through the switchboard. */
class Line {
  readonly call: Call;
  readonly #dialler: Socket;
  readonly #listener: Socket;
  readonly #toListener: Direction;
  readonly #toDialler: Direction;
  #trouble: Trouble = NONE;
  /** What has come while it is held. */
  readonly #held: (() => void)[] = [];

  constructor(dialler: Socket, call: Call, onEnd: () => void) {
    this.call = call;
    this.#dialler = dialler;
    this.#listener = connect({ host: call.host, port: call.port, noDelay: true });
    this.#toListener = new Direction(dialler, this.#listener);
    this.#toDialler = new Direction(this.#listener, dialler);
    this.#listener.on('error', () => undefined);
    this.#listener.on('close', () => {
      if (this.#trouble.kind !== 'half-open') dialler.destroy();
    });
    dialler.on('close', () => {
      this.#listener.destroy();
      onEnd();
    });
  }

  /** `first` is what has come behind the preface. */
  begin(first: Buffer): void {
    if (first.length > 0) this.#carry(first, this.#toListener);
    this.#dialler.on('data', (chunk) => this.#carry(chunk, this.#toListener));
    this.#listener.on('data', (chunk) => this.#carry(chunk, this.#toDialler));
  }

  trouble(trouble: Trouble): void {
    this.heal();
    this.#trouble = trouble;
    if (trouble.kind === 'half-open') this.#listener.destroy();
    if (trouble.kind !== 'hold') return;
    this.#toListener.hold();
    this.#toDialler.hold();
  }

  heal(): void {
    const { kind } = this.#trouble;
    this.#trouble = NONE;
    if (kind === 'half-open') this.cut();
    if (kind !== 'hold') return;
    for (const carry of this.#held.splice(0)) carry();
    this.#toListener.release();
    this.#toDialler.release();
  }

  cut(): void {
    resetSocket(this.#dialler);
    resetSocket(this.#listener);
  }

  #carry(chunk: Buffer, way: Direction): void {
    switch (this.#trouble.kind) {
      case 'delay':
        way.carry(chunk, this.#trouble.ms);
        return;
      case 'half-open':
        return;
      case 'hold':
        this.#held.push(() => way.carry(chunk, 0));
        return;
      case 'none':
        way.carry(chunk, 0);
    }
  }
}
