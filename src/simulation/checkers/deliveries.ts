import type { TaskId } from '../../base/ids.ts';
import type { Emitted, Ledger } from '../workload/ledger.ts';

export interface Delivery {
  readonly tuple: number;
  readonly task: TaskId;
  /** The life that executed it. */
  readonly life: number;
  readonly atMs: number;
}

export interface KnownTuple extends Emitted {
  readonly tuple: number;
  readonly task: TaskId;
  readonly component: string;
}

/** All tuples that were emitted, with who emitted them. */
export function* emittedTuples(ledger: Ledger): Generator<KnownTuple> {
  for (let tuple = 0; tuple < ledger.emitCount; tuple += 1) {
    const known = knownTuple(ledger, tuple);
    if (known !== undefined) yield known;
  }
}

export function knownTuple(ledger: Ledger, tuple: number): KnownTuple | undefined {
  const emitted = ledger.emitted(tuple);
  if (emitted === undefined) return undefined;
  const { task, component } = ledger.life(emitted.life);
  return { ...emitted, tuple, task, component };
}

/** All calls of `execute`, in their order. */
export function* deliveries(ledger: Ledger): Generator<Delivery> {
  for (let index = 0; index < ledger.executeCount; index += 1) {
    const { tuple, life, atMs } = ledger.executed(index);
    yield { tuple, life, atMs, task: ledger.life(life).task };
  }
}

/** Deliveries by tuple. */
export function deliveriesByTuple(ledger: Ledger): ReadonlyMap<number, readonly Delivery[]> {
  const byTuple = new Map<number, Delivery[]>();
  for (const delivery of deliveries(ledger)) {
    const known = byTuple.get(delivery.tuple);
    if (known === undefined) byTuple.set(delivery.tuple, [delivery]);
    else known.push(delivery);
  }
  return byTuple;
}

/** A tuple in words, for problems. */
export function described({ tuple, component, task, stream }: KnownTuple): string {
  return `tuple ${tuple} of ${component} (task ${task}, stream ${stream})`;
}
