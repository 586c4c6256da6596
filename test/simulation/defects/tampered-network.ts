import type { Clock } from '../../../src/base/clock.ts';
import { hasCode } from '../../../src/base/errors.ts';
import type { ByteStream, ByteStreamEvents, Network } from '../../../src/net/network.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { encodePacket, FrameAssembler, type Packet } from '../../../src/wire/frame.ts';

/*
  A network that lies about packets: those that a process sends, those that it receives, or both are
  left out, changed, doubled or kept back. What is no packets (HTTP) passes as it is.
*/

/** A packet by itself; the bytes are its own. */
export interface LoosePacket {
  readonly typeName: string;
  readonly requestId: Uint8Array;
  readonly payload: Uint8Array;
}

/** One connection of the process that is lied to. */
export interface TamperedConnection {
  /** The process has dialled it, and has been connected with that address before. */
  readonly isRedial: boolean;
  /** Sends a packet in the process's name. Nothing happens once the process has ended it. */
  send(packet: LoosePacket): void;
  /** The same in the peer's name. */
  receive(packet: LoosePacket): void;
  after(delayMs: number, call: () => void): void;
}

/** What really goes on in place of a packet. */
export type Outcome = 'as it is' | readonly LoosePacket[];

export interface Tampering {
  onSend?(packet: LoosePacket, connection: TamperedConnection): Outcome;
  onReceive?(packet: LoosePacket, connection: TamperedConnection): Outcome;
}

/** Lies to the processes of some name, with a tampering made anew for each of their threads. */
export function tampered(names: RegExp, tampering: () => Tampering): Interposer {
  return {
    portsOf: (ports, { name }) =>
      names.test(name)
        ? { ...ports, network: tamperedNetwork(ports.network, ports.clock, tampering()) }
        : ports,
  };
}

function tamperedNetwork(network: Network, clock: Clock, tampering: Tampering): Network {
  const dialled = new Set<string>();
  return {
    listen: (address, onStream) =>
      network.listen(address, (stream) =>
        onStream(new TamperedStream(stream, { clock, tampering, isRedial: false })),
      ),
    async connect(address, signal) {
      const stream = await network.connect(address, signal);
      const isRedial = dialled.has(stream.remote);
      dialled.add(stream.remote);
      return new TamperedStream(stream, { clock, tampering, isRedial });
    },
  };
}

interface StreamOptions {
  readonly clock: Clock;
  readonly tampering: Tampering;
  readonly isRedial: boolean;
}

class TamperedStream implements ByteStream, TamperedConnection {
  readonly isRedial: boolean;
  readonly #stream: ByteStream;
  readonly #clock: Clock;
  readonly #sent: PacketCutter;
  readonly #received: PacketCutter;
  #events: ByteStreamEvents | undefined;
  #isOver = false;

  constructor(stream: ByteStream, { clock, tampering, isRedial }: StreamOptions) {
    this.#stream = stream;
    this.#clock = clock;
    this.isRedial = isRedial;
    this.#sent = new PacketCutter((packet) => tampering.onSend?.(packet, this) ?? 'as it is');
    this.#received = new PacketCutter(
      (packet) => tampering.onReceive?.(packet, this) ?? 'as it is',
    );
  }

  get remote(): string {
    return this.#stream.remote;
  }

  start(events: ByteStreamEvents): void {
    this.#events = events;
    this.#stream.start({
      onData: (chunk) => {
        const bytes = Buffer.concat(this.#received.cut(chunk));
        if (bytes.length > 0) events.onData(bytes);
      },
      onClosed: (error) => {
        this.#isOver = true;
        events.onClosed(error);
      },
    });
  }

  write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    const outgoing = this.#sent.cut(Buffer.concat(chunks));
    if (outgoing.length === 0) this.#clock.soon(onWritten);
    else this.#stream.write(outgoing, onWritten);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  end(): void {
    this.#isOver = true;
    this.#stream.end();
  }

  destroy(): void {
    this.#isOver = true;
    this.#stream.destroy();
  }

  send(packet: LoosePacket): void {
    if (!this.#isOver) this.#stream.write([encoded(packet)], () => {});
  }

  receive(packet: LoosePacket): void {
    if (!this.#isOver) this.#events?.onData(Buffer.from(encoded(packet)));
  }

  after(delayMs: number, call: () => void): void {
    this.#clock.after(delayMs, call);
  }
}

const PACKET_BYTES_MAX = 64 * 1024 * 1024;

/** One direction of a stream: takes its bytes and gives back those that go on. */
class PacketCutter {
  readonly #judge: (packet: LoosePacket) => Outcome;
  readonly #assembler = new FrameAssembler(PACKET_BYTES_MAX);
  #areNoPackets = false;

  constructor(judge: (packet: LoosePacket) => Outcome) {
    this.#judge = judge;
  }

  cut(chunk: Uint8Array): Uint8Array[] {
    const copy = Buffer.from(chunk);
    if (this.#areNoPackets) return [copy];
    const passed: Uint8Array[] = [];
    try {
      this.#assembler.feed(copy);
      for (let packet = this.#assembler.next(); packet; packet = this.#assembler.next()) {
        passed.push(...this.#passed(packet));
      }
    } catch (error) {
      if (!hasCode(error, 'PACKET_MALFORMED', 'PACKET_TOO_LARGE')) throw error;
      this.#areNoPackets = true; // The first bytes show it: nothing has been kept back.
      return [copy];
    }
    return passed;
  }

  #passed(packet: Packet): readonly Uint8Array[] {
    const { typeName, bytes, requestIdStart, payloadStart } = packet;
    const requestId = bytes.subarray(requestIdStart, payloadStart - 4);
    const loose = { typeName, requestId: Buffer.from(requestId), payload: packet.payload };
    const outcome = this.#judge(loose);
    return (outcome === 'as it is' ? [loose] : outcome).map(encoded);
  }
}

function encoded({ typeName, requestId, payload }: LoosePacket): Uint8Array {
  return encodePacket(typeName, requestId, payload);
}
