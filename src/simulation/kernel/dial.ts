import { environmentError, type EngineError, type ErrorCode } from '../../base/errors.ts';
import { type Address, addressText, type ByteStream } from '../../net/network.ts';
import type { Party } from './network-faults.ts';
import type { SimulatedStream } from './simulated-stream.ts';
import type { SimulatedThread } from './simulated-thread.ts';
import { MICROSECONDS_PER_MILLISECOND } from './simulated-time.ts';

/** Linux repeats the first packet after a second, then doubles, and gives up after two minutes. */
const FIRST_REPEAT_MS = 1000;
const ATTEMPTS_MAX = 7;

export interface BoundListener {
  readonly thread: SimulatedThread;
  readonly party: Party;
  readonly onStream: (stream: ByteStream) => void;
  isOpen: boolean;
}

export interface DialClient {
  readonly thread: SimulatedThread;
  readonly party: Party;
}

/** What a dial needs of its network. */
export interface DialNetwork {
  /** A call of the network, which no thread has to be free for. */
  later(delayMs: number, call: () => void): void;
  log(party: Party, text: string): void;
  blocks(from: Party, to: Party): boolean;
  latencyUs(from: Party, to: Party): number;
  /** Who is reached there now, or the host that has nobody there. */
  find(from: Party, address: Address): BoundListener | { readonly host: string } | undefined;
  establish(listener: BoundListener, client: DialClient, address: Address): SimulatedStream;
}

export interface DialOptions extends DialClient {
  readonly network: DialNetwork;
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (stream: ByteStream) => void;
  readonly reject: (error: EngineError) => void;
}

/** One attempt to connect, from the first packet to an answer. */
export class Dial {
  readonly #options: DialOptions;
  readonly #where: string;
  readonly #onAbort = (): void => this.#abort();
  #attempts = 0;
  #isAborted = false;

  constructor(options: DialOptions) {
    this.#options = options;
    this.#where = addressText(options.address);
  }

  start(): void {
    const { signal, thread } = this.#options;
    if (thread.state === 'dead') return;
    if (signal?.aborted === true) {
      this.#abort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#attempt();
  }

  #attempt(): void {
    const { network, party, address } = this.#options;
    this.#attempts += 1;
    const target = network.find(party, address);
    const there = partyOf(target);
    network.later(ms(network.latencyUs(party, there)), () => this.#arrive());
  }

  /** The first packet is with the other host, or lost on its way. */
  #arrive(): void {
    const { network, party, address, thread } = this.#options;
    if (this.#isAborted || thread.state === 'dead') return;
    const target = network.find(party, address);
    if (target === undefined) {
      this.#answer(() =>
        this.#fail('CONNECTION_LOST', `cannot reach ${this.#where}: no such host`),
      );
      return;
    }
    const there = partyOf(target);
    if (network.blocks(party, there) || network.blocks(there, party)) {
      this.#repeat();
      return;
    }
    const back = network.latencyUs(there, party);
    if (!('onStream' in target)) {
      this.#answer(() => this.#refused(), back);
      return;
    }
    const stream = network.establish(target, { thread, party }, address);
    this.#answer(() => this.#connected(stream), back);
  }

  #repeat(): void {
    if (this.#attempts < ATTEMPTS_MAX) {
      const pauseMs = FIRST_REPEAT_MS * 2 ** (this.#attempts - 1);
      this.#options.network.later(pauseMs, () => this.#attempt());
    } else {
      this.#answer(() => this.#fail('CONNECTION_LOST', `cannot reach ${this.#where}: ETIMEDOUT`));
    }
  }

  #answer(call: () => void, afterUs = 0): void {
    this.#options.thread.post(ms(afterUs), call);
  }

  #connected(stream: SimulatedStream): void {
    if (this.#isAborted) {
      stream.destroy();
      return;
    }
    const { network, party, signal, resolve } = this.#options;
    signal?.removeEventListener('abort', this.#onAbort);
    network.log(party, `connects to ${stream.peer.party.process} at ${this.#where}`);
    resolve(stream);
  }

  #refused(): void {
    this.#fail('CONNECTION_REFUSED', `nobody listens on ${this.#where}`);
  }

  #fail(code: ErrorCode, message: string): void {
    if (this.#isAborted) return;
    const { signal, reject } = this.#options;
    signal?.removeEventListener('abort', this.#onAbort);
    reject(environmentError(code, message, { retryable: true }));
  }

  #abort(): void {
    this.#isAborted = true;
    const message = `the attempt to connect to ${this.#where} was given up`;
    this.#options.reject(environmentError('CONNECTION_CLOSED', message, { retryable: true }));
  }
}

function partyOf(target: BoundListener | { readonly host: string } | undefined): Party {
  if (target === undefined) return { host: '', process: '' };
  return 'onStream' in target ? target.party : { host: target.host, process: '' };
}

function ms(us: number): number {
  return us / MICROSECONDS_PER_MILLISECOND;
}
