import { hasCode } from '../../base/errors.ts';
import { FrameAssembler, type Packet } from '../../wire/frame.ts';
import type { BytesEvent, SimulationEvent } from './checker.ts';

/** Above what any process of the engine accepts. */
const PACKET_BYTES_MAX = 64 * 1024 * 1024;

/** One direction of a connection; `from` and `to` are names of processes. */
export interface Direction {
  readonly connection: number;
  readonly from: string;
  readonly to: string;
}

export interface TappedPackets {
  /** A packet has arrived as a whole; it may be looked at only during the call. */
  onPacket(packet: Packet, direction: Direction, atMs: number): void;
  /** Nothing comes on this connection any more. */
  onConnectionEnd(connection: number, atMs: number): void;
}

interface TappedDirection {
  readonly direction: Direction;
  /** Undefined where the bytes are no packets: HTTP. */
  assembler: FrameAssembler | undefined;
}

/** Puts the bytes of all connections together to packets, as their receivers do. */
export class PacketTap {
  readonly #packets: TappedPackets;
  readonly #directions = new Map<string, TappedDirection>();

  constructor(packets: TappedPackets) {
    this.#packets = packets;
  }

  observe(event: SimulationEvent): void {
    if (event.kind === 'bytes') this.#feed(event);
    else if (event.kind === 'connection-end') this.#end(event.connection, event.atMs);
  }

  #feed({ connection, from, to, bytes, atMs }: BytesEvent): void {
    const tapped = this.#tapped({ connection, from: processOf(from), to: processOf(to) });
    const { assembler, direction } = tapped;
    if (assembler === undefined) return;
    try {
      assembler.feed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      for (let packet = assembler.next(); packet !== undefined; packet = assembler.next()) {
        this.#packets.onPacket(packet, direction, atMs);
      }
    } catch (error) {
      if (!hasCode(error, 'PACKET_MALFORMED', 'PACKET_TOO_LARGE')) throw error;
      tapped.assembler = undefined;
    }
  }

  #tapped(direction: Direction): TappedDirection {
    const key = `${direction.connection} ${direction.from}`;
    let tapped = this.#directions.get(key);
    if (tapped === undefined) {
      tapped = { direction, assembler: new FrameAssembler(PACKET_BYTES_MAX) };
      this.#directions.set(key, tapped);
    }
    return tapped;
  }

  #end(connection: number, atMs: number): void {
    for (const [key, { direction }] of this.#directions) {
      if (direction.connection === connection) this.#directions.delete(key);
    }
    this.#packets.onConnectionEnd(connection, atMs);
  }
}

/** Connections belong to threads: `container_1_words_3/gateway` is a thread of the former. */
function processOf(thread: string): string {
  const slash = thread.indexOf('/');
  return slash === -1 ? thread : thread.slice(0, slash);
}
