import type { Checker, SimulationEvent } from '../../../../src/simulation/checkers/checker.ts';
import { encodePacket, NO_REQUEST_ID, REQUEST_ID_BYTES } from '../../../../src/wire/frame.ts';
import type { MessageType } from '../../../../src/wire/message-type.ts';

interface Sent {
  readonly connection: number;
  readonly from: string;
  readonly to: string;
}

/** What a tap tells a checker, packet by packet, as a test writes it. */
export class ScriptedTraffic {
  atMs = 0;
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  tell(event: SimulationEvent): void {
    this.#checker.observe?.(event);
  }

  send<T>(sent: Sent, type: MessageType<T>, value: T, request?: number): void {
    this.packet(sent, type.typeName, type.encode(value), request);
  }

  packet(sent: Sent, typeName: string, payload: Uint8Array, request?: number): void {
    const id =
      request === undefined ? NO_REQUEST_ID : new Uint8Array(REQUEST_ID_BYTES).fill(request);
    const bytes = encodePacket(typeName, id, payload);
    this.tell({ kind: 'bytes', atMs: this.atMs, ...sent, bytes });
  }

  end(connection: number): void {
    this.tell({ kind: 'connection-end', atMs: this.atMs, connection });
  }
}
