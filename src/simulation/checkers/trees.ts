import type { Settlement } from '../workload/message-log.ts';
import type { FinishedRun } from './checker.ts';
import { deliveriesByTuple, type Delivery, knownTuple } from './deliveries.ts';
import { isForEach, type Reader } from './expected-routing.ts';
import { fewestMissing, readerBy, RoutingTimes } from './routing-times.ts';

/** A copy of a tuple that a tree waits for: nobody knows yet which task gets it, or one does. */
export interface MissingCopy {
  readonly tuple: number;
  readonly bolt: string;
  /** Where it was executed and not settled; undefined when it never arrived. */
  readonly task: number | undefined;
  /** The tasks that it may have been sent to. */
  readonly candidates: readonly number[];
}

/** What user code knows of the trees of a run. */
export class Trees {
  readonly #run: FinishedRun;
  readonly #times: RoutingTimes;
  readonly #children = new Map<number, number[]>();
  readonly #deliveries: ReadonlyMap<number, readonly Delivery[]>;
  /** By `tuple task`. */
  readonly #settlements = new Map<string, Settlement>();
  readonly #settled = new Map<number, Settlement[]>();

  constructor(run: FinishedRun) {
    const { ledger } = run.workload;
    this.#run = run;
    this.#times = new RoutingTimes(run);
    this.#deliveries = deliveriesByTuple(ledger);
    for (const [child, parents] of ledger.trees.anchors) {
      if (ledger.emitted(child) === undefined) continue; // It was refused.
      for (const parent of parents) listOf(this.#children, parent).push(child);
    }
    for (const settlement of ledger.trees.settlements) {
      const { tuple, life } = settlement;
      this.#settlements.set(`${tuple} ${life.task}`, settlement);
      listOf(this.#settled, tuple).push(settlement);
    }
  }

  /** All tuples that descend from a message, itself among them. */
  tuplesOf(message: number): readonly number[] {
    const all = new Set([message]);
    for (const tuple of all) for (const child of this.#children.get(tuple) ?? []) all.add(child);
    return [...all];
  }

  /** What bolts have done with a tuple. */
  settlementsOf(tuple: number): readonly Settlement[] {
    return this.#settled.get(tuple) ?? [];
  }

  /** Copies of tuples of a tree that no bolt has acked, as far as its acks are counted. */
  missingOf(message: number, isCounted: (ack: Settlement) => boolean): readonly MissingCopy[] {
    return this.tuplesOf(message).flatMap((tuple) => this.#missingOf(tuple, isCounted));
  }

  #missingOf(number: number, isCounted: (ack: Settlement) => boolean): readonly MissingCopy[] {
    const tuple = knownTuple(this.#run.workload.ledger, number);
    if (tuple === undefined) return [];
    return this.#times.all.readersOf(tuple.component, tuple.stream).flatMap((reader) => {
      const alternatives = this.#times.alternativesFor(reader, tuple, this.#run.endedAtMs);
      return fewestMissing(alternatives, (routing) => {
        const allowed = routing.allowedTasks(readerBy(routing, tuple, reader.bolt), tuple);
        if (!isForEach(reader)) return this.#missingCopy(number, reader, allowed, isCounted);
        return allowed.flatMap((task) => this.#missingCopy(number, reader, [task], isCounted));
      });
    });
  }

  /** One copy went to one of these tasks. */
  #missingCopy(
    tuple: number,
    { bolt }: Reader,
    candidates: readonly number[],
    isCounted: (ack: Settlement) => boolean,
  ): readonly MissingCopy[] {
    const task = this.#deliveries
      .get(tuple)
      ?.find((delivery) => candidates.includes(delivery.task))?.task;
    const settlement = task === undefined ? undefined : this.#settlements.get(`${tuple} ${task}`);
    const isAcked = settlement?.how === 'acked' && isCounted(settlement);
    return isAcked ? [] : [{ tuple, bolt, task, candidates }];
  }
}

function listOf<Value>(lists: Map<number, Value[]>, key: number): Value[] {
  let list = lists.get(key);
  if (list === undefined) {
    list = [];
    lists.set(key, list);
  }
  return list;
}
