import { AckSetReader } from '../wire/ack-set-reader.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

/** Counts acks and fails: at most once knows none, but foreign instances send them. */
export class CountedAcks {
  readonly #traffic: InstanceTraffic;
  readonly #reader = new AckSetReader();

  constructor(traffic: InstanceTraffic) {
    this.#traffic = traffic;
  }

  /** @throws EngineError PACKET_MALFORMED. */
  handleInstanceSet(bytes: Uint8Array, start: number, end: number): void {
    const { acksFromInstances, failsFromInstances } = this.#traffic;
    const reader = this.#reader;
    reader.open(bytes, start, end);
    while (reader.next()) (reader.kind === 'ack' ? acksFromInstances : failsFromInstances).add(1);
  }
}
