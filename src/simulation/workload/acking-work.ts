import type { AnyTuple } from '../../api/tuple.ts';
import type { BoltWork } from './bolt-work.ts';
import type { AckingDescription, BoltDescription, Mishap } from './workload-description.ts';
import { IntendedError, numberOf } from './workload-task.ts';

/** What a Bolt calls of the engine; a BasicBolt does not settle its tuples itself. */
export interface SettlingPorts {
  ack(tuple: AnyTuple): void;
  fail(tuple: AnyTuple, reason: unknown): void;
}

/**
 * What a bolt of a workload that runs at least once does with its input: the work of any other
 * workload, and in the ledger what became of each tuple. Entries are made before the engine hears
 * of it.
 */
export class AckingWork {
  readonly #work: BoltWork;
  readonly #base: BoltDescription['base'];
  readonly #acking: AckingDescription;
  readonly #ports: SettlingPorts | undefined;
  readonly #held: AnyTuple[] = [];

  constructor(
    work: BoltWork,
    { base, acking }: BoltDescription & { readonly acking: AckingDescription },
    ports: SettlingPorts | undefined,
  ) {
    this.#work = work;
    this.#base = base;
    this.#acking = acking;
    this.#ports = ports;
  }

  execute(tuple: AnyTuple): void | Promise<void> {
    let mishap: Mishap['kind'] | undefined;
    try {
      this.#work.take(tuple);
      mishap = this.#mishap();
    } catch (error) {
      this.#note(tuple, 'thrown');
      throw error;
    }
    const { isAnchored, batch } = this.#acking;
    if (mishap === 'fail') {
      this.#note(tuple, 'failed');
      this.#ports?.fail(tuple, new IntendedError('this tuple fails'));
      return undefined;
    }
    if (batch !== undefined) {
      if (mishap === undefined) this.#hold(tuple, batch.size, batch.forMs);
      return undefined;
    }
    const isAcked = mishap === undefined;
    const isDetached = this.#base === 'basic' && this.#detached;
    // A BasicBolt's timers emit for nobody, and its tuple is done when `execute` returns.
    if (isDetached) this.#note(tuple, 'acked');
    return this.#work.work(tuple, {
      anchors: isAnchored && !isDetached ? [tuple] : [],
      onProduced: () => {
        if (isAcked && !isDetached) this.#ack(tuple);
      },
    });
  }

  /** Before the end of the bolt. */
  flush(): void {
    const held = this.#held.splice(0);
    if (held.length === 0) return;
    this.#work.emitFor(this.#acking.isAnchored ? held : []);
    const ackAll = (): void => {
      for (const tuple of held) this.#ack(tuple);
    };
    const { batch } = this.#acking;
    if (batch?.isAckedLater === true) this.#work.later(batch.forMs, ackAll);
    else ackAll();
  }

  get #detached(): boolean {
    return this.#work.isDetached;
  }

  #hold(tuple: AnyTuple, size: number, forMs: number): void {
    this.#held.push(tuple);
    if (this.#held.length >= size) this.flush();
    else if (this.#held.length === 1) this.#work.later(forMs, () => this.flush());
  }

  #ack(tuple: AnyTuple): void {
    this.#note(tuple, 'acked');
    this.#ports?.ack(tuple);
    if (this.#acking.acksTwice) this.#ports?.ack(tuple);
  }

  #note(tuple: AnyTuple, how: 'acked' | 'failed' | 'thrown'): void {
    const { ledger, life } = this.#work.task;
    ledger.trees.settle(life, numberOf(tuple), how);
  }

  /** @throws IntendedError for a mishap of that kind. */
  #mishap(): Mishap['kind'] | undefined {
    const { ledger, life } = this.#work.task;
    for (const { kind, every, times } of this.#acking.mishaps) {
      if (ledger.count(`call for ${kind}`, life.task) % every !== 0) continue;
      if (ledger.counted(kind, life.task) >= times) continue;
      ledger.count(kind, life.task);
      if (kind !== 'throw') return kind;
      if (this.#base === 'plain') ledger.throws(life);
      throw new IntendedError('this tuple is poison');
    }
    return undefined;
  }
}
