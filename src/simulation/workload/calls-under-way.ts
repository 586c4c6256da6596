import type { AnyTuple } from '../../api/tuple.ts';
import type { Ledger } from './ledger.ts';
import type { BoltDescription } from './workload-description.ts';

/** A call of `execute` whose promise is pending. */
interface CallUnderWay {
  readonly key: string | undefined;
}

/**
 * The calls of one bolt object that are under way, seen from inside. What must not happen beside
 * them is written into the ledger.
 *
 * U1. No more promises of `execute` are pending than the bolt allows: one unless it says more.
 * U2. Of two tuples with equal grouping fields, where these are kept in order, the later one waits
 *     for the earlier one.
 * U3. A tick comes when no call is pending, unless the bolt allows several; `finish` when none is.
 * U4. After `finish` has begun there are no ticks.
 */
export class CallsUnderWay {
  readonly #bolt: BoltDescription;
  readonly #ledger: Ledger;
  readonly #pending = new Set<CallUnderWay>();

  constructor(bolt: BoltDescription, ledger: Ledger) {
    this.#bolt = bolt;
    this.#ledger = ledger;
  }

  /** A call of `execute` begins; ends by `end`. */
  begin(tuple: AnyTuple): CallUnderWay {
    const { concurrency } = this.#bolt;
    const call = { key: this.#keyOf(tuple) };
    if (this.#pending.size >= (concurrency?.count ?? 1)) {
      this.#tell(`executed ${String(tuple.values[0])} beside ${this.#pending.size} others`);
    }
    const isBesideItsKey = [...this.#pending].some(({ key }) => key === call.key);
    if (call.key !== undefined && isBesideItsKey) {
      this.#tell(`executed ${String(tuple.values[0])} beside another one of ${call.key}`);
    }
    this.#pending.add(call);
    return call;
  }

  end(call: CallUnderWay): void {
    this.#pending.delete(call);
  }

  tick(isFinishing: boolean): void {
    if (isFinishing) this.#tell('got a tick after its finish had begun');
    if (this.#bolt.concurrency === undefined) this.#beAlone('got a tick');
  }

  finish(): void {
    this.#beAlone('was finished');
  }

  #beAlone(what: string): void {
    if (this.#pending.size > 0) this.#tell(`${what} beside ${this.#pending.size} pending calls`);
  }

  #tell(what: string): void {
    this.#ledger.overlap(`${this.#bolt.name} ${what}`);
  }

  /** Undefined for a tuple that is in no order. */
  #keyOf({ values, sourceComponent, sourceStream }: AnyTuple): string | undefined {
    const { concurrency, inputs } = this.#bolt;
    if (concurrency?.order !== 'key') return undefined;
    const grouping = inputs.find(
      ({ component, stream }) => component === sourceComponent && stream === sourceStream,
    )?.grouping;
    const emitted = this.#ledger.emitted(Number(values[0]));
    if (grouping?.kind !== 'fields' || emitted === undefined) return undefined;
    const keys = grouping.fields.map((field) =>
      field === 'first' ? emitted.firstKey : emitted.secondKey,
    );
    return `${sourceComponent} ${sourceStream} ${grouping.fields.join(',')}=${keys.join(',')}`;
  }
}
