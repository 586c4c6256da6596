import type { AnyTuple } from '../../../api/tuple.ts';
import { decodeTrace, type TraceContext } from '../../../wire/trace-context.ts';
import { TupleInput } from '../tuple-input.ts';

/** Tells of the tuples that belong to sampled traces. Only where traces are sampled. */
export class TracedInput extends TupleInput {
  readonly #onTraced: (tuple: AnyTuple, context: TraceContext) => void;

  constructor(
    onTraced: (tuple: AnyTuple, context: TraceContext) => void,
    ...options: ConstructorParameters<typeof TupleInput>
  ) {
    super(...options);
    this.#onTraced = onTraced;
  }

  override next(): AnyTuple | undefined {
    const tuple = super.next();
    const bytes = tuple === undefined ? undefined : this.trace;
    const context = bytes === undefined ? undefined : decodeTrace(bytes);
    if (tuple !== undefined && context !== undefined) this.#onTraced(tuple, context);
    return tuple;
  }
}
