import type { Roots } from '../../../wire/fail-detail.ts';
import { TupleSetWriter } from '../../../wire/tuple-set-writer.ts';

/** The trace that what is being emitted belongs to, as bytes; undefined: none. */
export interface TraceSlot {
  bytes: Uint8Array | undefined;
}

/** Writes the trace behind tuples that have one. Only where traces are sampled. */
export class TracedSetWriter extends TupleSetWriter {
  readonly #slot: TraceSlot;

  constructor(slot: TraceSlot) {
    super();
    this.#slot = slot;
  }

  override addTuple(
    values: readonly unknown[],
    destinations?: readonly number[],
    roots?: Roots,
  ): boolean {
    const { bytes } = this.#slot;
    if (bytes === undefined) return super.addTuple(values, destinations, roots);
    this.#slot.bytes = undefined; // `addTraced` comes back here.
    try {
      return this.addTraced(values, destinations, roots, bytes);
    } finally {
      this.#slot.bytes = bytes;
    }
  }
}
