/*
  The network of a simulated world: hosts, listeners and connections.

  N1. A host knows itself by its own name and by the loopback names; what listens on the loopback
      only is out of reach for other hosts.
  N2. A connection is made by the hosts, not by the processes: a paused process is connected to like
      any other, and notices later. A port of a dead process refuses.
  N3. A dial into a partition is repeated, as TCP does it, and given up at last.
*/

import { environmentError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import {
  type Address,
  addressText,
  type ByteStream,
  type Listener,
  type Network,
} from '../../net/network.ts';
import { type BoundListener, Dial, type DialClient, type DialNetwork } from './dial.ts';
import type { Kernel } from './kernel.ts';
import { isOneOf } from './named-random.ts';
import { isAmong, NetworkFaults, type Party, type PartyNames } from './network-faults.ts';
import {
  READ_BYTES_MAX,
  type SimulatedConnection,
  SimulatedStream,
  type StreamNetwork,
} from './simulated-stream.ts';
import type { SimulatedThread, ThreadDependent } from './simulated-thread.ts';
import { MICROSECONDS_PER_MILLISECOND } from './simulated-time.ts';

/** Linux's own range of the ports that nobody asks for by number. */
const FREE_PORT_MIN = 32_768;
const FREE_PORTS = 28_232;
const LISTEN_MS = 0.02;
/** Loopback, and a local network; half of it is drawn anew for each piece. */
const WITHIN_HOST_US = 40;
const BETWEEN_HOSTS_US = 300;
/** One in so many pieces meets a queue on its way. */
const SLOW_PIECES = 64;
const SLOW_PIECE_US = 2000;
/** From a small receive buffer to what Linux gives a loopback connection at its start. */
const WINDOW_BYTES = [16 * 1024, 64 * 1024, 256 * 1024] as const;

const LOOPBACK = '127.0.0.1';
const LOOPBACK_NAMES = [LOOPBACK, 'localhost', '::1'];
const WILDCARD = '0.0.0.0';
const WILDCARD_NAMES = [WILDCARD, '::', ''];

/** Bytes on a connection; `bytes` may be looked at only during the call. */
export interface TrafficEvent {
  readonly connection: number;
  readonly from: Party;
  readonly to: Party;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

export interface NetworkTap {
  /** The network has taken them from the writer. */
  onBytes?(event: TrafficEvent): void;
  /** The reader gets them. */
  onRead?(event: TrafficEvent): void;
}

/** A connection as faults and checkers see it. */
export interface ConnectionFacts {
  /** In the order of their making. */
  readonly number: number;
  /** Who dialled. */
  readonly from: Party;
  readonly to: Party;
  readonly windowBytes: number;
  readonly isHalfOpen: boolean;
  /** On the way or unread, both directions. */
  readonly bufferedBytes: number;
}

interface OpenConnection extends SimulatedConnection {
  readonly client: SimulatedStream;
}

export class SimulatedNetwork implements StreamNetwork, DialNetwork {
  readonly faults: NetworkFaults;
  readonly random: Random;
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX);
  readonly #kernel: Kernel;
  readonly #hosts = new Set<string>();
  /** By host, name and port: `machine-1 0.0.0.0:4001`. */
  readonly #listeners = new Map<string, BoundListener>();
  readonly #connections = new Map<number, OpenConnection>();
  readonly #holding = new Set<SimulatedStream>();
  readonly #taps = new Set<NetworkTap>();
  #connectionsMade = 0;
  #portsTaken = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.random = kernel.random('network');
    this.faults = new NetworkFaults(kernel.random('network faults'), () => this.#sendHeld());
  }

  /** The network as a thread of a process on a host has it. */
  portOf(thread: SimulatedThread, host: string, process: string = thread.name): Network {
    this.#hosts.add(host);
    const party: Party = { host, process };
    return {
      listen: (address, onStream) => this.#listen(thread, party, address, onStream),
      connect: (address, signal) =>
        new Promise((resolve, reject) => {
          new Dial({ network: this, thread, party, address, signal, resolve, reject }).start();
        }),
    };
  }

  /** The open ones, oldest first. */
  connections(): readonly ConnectionFacts[] {
    return Array.from(
      this.#connections.values(),
      ({ number, windowBytes, isHalfOpen, client }) => ({
        number,
        from: client.party,
        to: client.peer.party,
        windowBytes,
        isHalfOpen,
        bufferedBytes: client.bufferedBytes + client.peer.bufferedBytes,
      }),
    );
  }

  /** The numbers of the open connections between these, whoever dialled. */
  connectionsBetween(some: PartyNames, others: PartyNames): readonly number[] {
    const isBetween = (one: Party, other: Party): boolean =>
      isAmong(one, some) && isAmong(other, others);
    return this.connections()
      .filter(({ from, to }) => isBetween(from, to) || isBetween(to, from))
      .map(({ number }) => number);
  }

  /** Both ends learn that the connection is gone; what is on the way is lost. */
  drop(number: number): void {
    const connection = this.#connections.get(number);
    if (connection === undefined) return;
    const { client } = connection;
    this.log(client.party, `loses its connection ${number} with ${client.peer.party.process}`);
    connection.isHalfOpen = true;
    client.reset();
    client.peer.reset();
  }

  /** From now on what either end sends vanishes; nobody is told until it is healed by a `drop`. */
  halfOpen(number: number): void {
    const connection = this.#connections.get(number);
    if (connection === undefined || connection.isHalfOpen) return;
    const { client } = connection;
    this.log(client.party, `has a dead connection ${number} with ${client.peer.party.process}`);
    connection.isHalfOpen = true;
  }

  /** Returns how to take it off again. */
  tap(tap: NetworkTap): () => void {
    this.#taps.add(tap);
    return () => void this.#taps.delete(tap);
  }

  get nowUs(): number {
    return this.#kernel.nowUs;
  }

  blocks(from: Party, to: Party): boolean {
    return this.faults.blocks(from, to);
  }

  latencyUs(from: Party, to: Party): number {
    const { random } = this;
    const usualUs = from.host === to.host ? WITHIN_HOST_US : BETWEEN_HOSTS_US;
    const slowUs = isOneOf(random, SLOW_PIECES) ? random.below(SLOW_PIECE_US) : 0;
    const halfUs = usualUs >> 1;
    return halfUs + random.below(halfUs) + slowUs + this.faults.extraUs(from, to);
  }

  hold(end: SimulatedStream): void {
    this.#holding.add(end);
  }

  tellSent(end: SimulatedStream, bytes: Buffer): void {
    if (this.#taps.size === 0) return;
    const event = this.#trafficEvent(end, end.peer, bytes);
    for (const tap of this.#taps) tap.onBytes?.(event);
  }

  tellRead(end: SimulatedStream, bytes: Buffer): void {
    if (this.#taps.size === 0) return;
    const event = this.#trafficEvent(end.peer, end, bytes);
    for (const tap of this.#taps) tap.onRead?.(event);
  }

  forget({ number }: SimulatedConnection): void {
    this.#connections.delete(number);
  }

  later(delayMs: number, call: () => void): void {
    this.#kernel.at(delayMs, call);
  }

  log(party: Party, text: string): void {
    this.#kernel.log.add(party.process, text);
  }

  find(from: Party, address: Address): BoundListener | { readonly host: string } | undefined {
    const isLoopback = LOOPBACK_NAMES.includes(address.host);
    const host = isLoopback ? from.host : address.host;
    if (!this.#hosts.has(host)) return undefined;
    const bound = (name: string): BoundListener | undefined =>
      this.#listeners.get(listenerKey(host, name, address.port));
    return bound(isLoopback ? LOOPBACK : host) ?? bound(WILDCARD) ?? { host };
  }

  establish(listener: BoundListener, client: DialClient, address: Address): SimulatedStream {
    const { random } = this;
    const number = this.#connectionsMade;
    this.#connectionsMade += 1;
    const windowBytes = WINDOW_BYTES[random.below(WINDOW_BYTES.length)] as number;
    const base: SimulatedConnection = { number, windowBytes, isHalfOpen: false, ends: 2 };
    const common = { network: this, connection: base };
    const near = new SimulatedStream({ ...common, ...client, remote: addressText(address) });
    const clientAddress = { host: client.party.host, port: this.#takePort() };
    const { thread, party } = listener;
    const remote = addressText(clientAddress);
    const far = new SimulatedStream({ ...common, thread, party, remote });
    SimulatedStream.join(near, far);
    this.#connections.set(number, Object.assign(base, { client: near }));
    thread.post(0, () => {
      if (listener.isOpen) listener.onStream(far);
      else far.destroy();
    });
    return near;
  }

  #takePort(): number {
    this.#portsTaken += 1;
    return FREE_PORT_MIN + ((this.#portsTaken - 1) % FREE_PORTS);
  }

  /** One that nobody on the host listens on, by whatever name. */
  #takeListenerPort(host: string): number {
    for (;;) {
      const port = this.#takePort();
      const names = [WILDCARD, LOOPBACK, host];
      if (!names.some((name) => this.#listeners.has(listenerKey(host, name, port)))) return port;
    }
  }

  #listen(
    thread: SimulatedThread,
    party: Party,
    address: Address,
    onStream: (stream: ByteStream) => void,
  ): Promise<Listener> {
    return new Promise((resolve, reject) => {
      thread.post(LISTEN_MS, () => {
        const where = {
          host: address.host,
          port: address.port || this.#takeListenerPort(party.host),
        };
        const keys = this.#keysOf(party, where);
        if (typeof keys === 'string') {
          reject(
            environmentError('CONNECTION_LOST', `cannot listen on ${addressText(where)}: ${keys}`),
          );
          return;
        }
        if (keys.conflicts.some((key) => this.#listeners.has(key))) {
          const message = `${addressText(where)} is in use by another process`;
          reject(environmentError('PORT_IN_USE', message));
          return;
        }
        this.log(party, `listens on ${addressText(where)}`);
        resolve(this.#bind(keys.own, { thread, party, onStream, isOpen: true }, where));
      });
    });
  }

  #bind(key: string, listener: BoundListener, address: Address): Listener {
    this.#listeners.set(key, listener);
    const close = (): void => {
      if (!listener.isOpen) return;
      listener.isOpen = false;
      this.#listeners.delete(key);
      listener.thread.detach(dependent);
    };
    const dependent: ThreadDependent = { onThreadKilled: close };
    listener.thread.attach(dependent);
    return { address, close };
  }

  /** Under which key it listens, and which other keys exclude it; or why it cannot. */
  #keysOf(
    { host }: Party,
    address: Address,
  ): { readonly own: string; readonly conflicts: readonly string[] } | string {
    const { port } = address;
    const key = (name: string): string => listenerKey(host, name, port);
    const own = [LOOPBACK, host].map(key);
    if (WILDCARD_NAMES.includes(address.host)) {
      return { own: key(WILDCARD), conflicts: [key(WILDCARD), ...own] };
    }
    if (LOOPBACK_NAMES.includes(address.host)) {
      return { own: key(LOOPBACK), conflicts: [key(WILDCARD), key(LOOPBACK)] };
    }
    if (address.host !== host) return 'bind EADDRNOTAVAIL';
    return { own: key(host), conflicts: [key(WILDCARD), key(host)] };
  }

  #sendHeld(): void {
    const holding = [...this.#holding];
    this.#holding.clear();
    for (const end of holding) end.sendHeld(); // Those that are still blocked come back.
  }

  #trafficEvent(from: SimulatedStream, to: SimulatedStream, bytes: Buffer): TrafficEvent {
    const atMs = this.nowUs / MICROSECONDS_PER_MILLISECOND;
    return { connection: from.connection.number, from: from.party, to: to.party, bytes, atMs };
  }
}

function listenerKey(host: string, name: string, port: number): string {
  return `${host} ${name}:${port}`;
}
