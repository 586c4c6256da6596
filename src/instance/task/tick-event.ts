import type { AnyBolt } from '../../api/component-runtime.ts';
import { tickTuple } from '../../api/tick.ts';
import type { EngineError } from '../../base/errors.ts';
import type { DueEvent } from './due-events.ts';
import type { TaskCounters } from './task-counters.ts';

export interface TickEventOptions {
  readonly bolt: AnyBolt;
  readonly intervalMs: number;
  readonly counters: TaskCounters;
  /** Takes failures that the bolt survives; undefined where every failure ends the instance. */
  readonly onFailure: ((failure: EngineError) => void) | undefined;
}

/** What is due at each tick of a bolt: its method `tick`, or else `execute`. */
export function tickEvent({ bolt, intervalMs, counters, onFailure }: TickEventOptions): DueEvent {
  const tick = tickTuple(intervalMs);
  const { executed, failed } = counters.input(tick.sourceComponent, tick.sourceStream);
  return {
    callback: bolt.tick === undefined ? 'execute' : 'tick',
    run: () => {
      executed.value += 1;
      return bolt.tick === undefined ? bolt.execute(tick) : bolt.tick(tick);
    },
    ...(onFailure && {
      onFailure: (failure) => {
        failed.value += 1;
        onFailure(failure);
      },
    }),
  };
}
