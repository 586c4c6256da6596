import type { TaskId } from '../../../../src/base/ids.ts';
import type { FailReason } from '../../../../src/model/fail-reason.ts';
import type { FinishedRun } from '../../../../src/simulation/checkers/checker.ts';
import type { Settlement } from '../../../../src/simulation/workload/message-log.ts';
import { aBoltPlan, aSpoutPlan, aWorkloadPlan, DEFAULT_ONLY } from '../workload/small-workloads.ts';
import { aFinishedRun } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

/**
 * A ledger that a test writes by hand, of a topology that runs at least once: `source`, two tasks
 * of `sink` that read it, and `last`, which reads `sink`. Time-outs are two seconds.
 */
export class TrackedRun extends HandWritten {
  constructor(config: Readonly<Record<string, string>> = {}) {
    const last = aBoltPlan({ name: 'last', parallelism: 1 });
    super(
      { kind: 'shuffle' },
      aWorkloadPlan({
        config: {
          'topology.reliability.mode': 'ATLEAST_ONCE',
          'topology.message.timeout.secs': '2',
          ...config,
        },
        spouts: [aSpoutPlan({ withMessageIds: true, replay: { afterMs: 0, endsEarly: false } })],
        bolts: [
          aBoltPlan({ streams: DEFAULT_ONLY }),
          {
            ...last,
            inputs: [{ component: 'sink', stream: 'default', grouping: { kind: 'global' } }],
          },
        ],
      }),
    );
  }

  get trees() {
    return this.workload.ledger.trees;
  }

  /** A message of the source. */
  send(): number {
    const tuple = this.emit();
    this.trees.emit(this.lifeOf(this.source), tuple);
    return tuple;
  }

  /** A task executes a tuple and is done with it. */
  settle(tuple: number, task: TaskId, how: Settlement['how'] = 'acked'): void {
    this.execute(tuple, task);
    this.trees.settle(this.lifeOf(task), tuple, how);
  }

  /** A sink emits what descends from a tuple. */
  derive(parent: number, task: TaskId): number {
    const tuple = this.workload.ledger.emit(this.lifeOf(task), 'default', 0, 0);
    this.trees.anchor(tuple, [parent]);
    return tuple;
  }

  ack(tuple: number): void {
    this.trees.callback(this.lifeOf(this.source), tuple, undefined);
  }

  fail(tuple: number, reason: Partial<FailReason> = {}): void {
    this.trees.callback(this.lifeOf(this.source), tuple, {
      kind: 'explicit',
      component: undefined,
      task: undefined,
      error: undefined,
      ...reason,
    });
  }

  finished(change: Partial<FinishedRun> = {}): FinishedRun {
    return aFinishedRun(this.workload, change);
  }
}
