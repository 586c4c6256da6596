import { type AnyBolt, kindOf } from '../../api/component-runtime.ts';
import type { ValueSerializer } from '../../api/serializer.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import type { Settings } from '../../model/settings.ts';
import { BoltRunner, type BoltRunnerOptions } from './bolt-runner.ts';
import type { ComponentRunner } from './component-runner.ts';
import { ConcurrentBoltRunner } from './concurrent-bolt-runner.ts';
import type { TaskAccounts } from './task-accounts.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TaskHooks } from './task-hooks.ts';
import type { TaskPorts } from './task-ports.ts';
import { TracedInput } from './trace/traced-input.ts';
import type { TaskTracer } from './trace/task-tracer.ts';
import { TupleInput } from './tuple-input.ts';

export interface BoltParts
  extends Pick<BoltRunnerOptions, 'calls' | 'output' | 'ends' | 'due' | 'clock' | 'onFailure'> {
  readonly component: ComponentName;
  readonly serializer: ValueSerializer | undefined;
  /** The one that the component is opened with. */
  readonly plan: PlanIndex;
  readonly settings: Settings;
  readonly accounts: TaskAccounts;
  readonly hooks: TaskHooks;
  readonly counters: TaskCounters;
  readonly ports: TaskPorts;
  /** Undefined where no traces are sampled. */
  readonly tracer: TaskTracer | undefined;
}

/** The loop that a bolt's settings ask for. */
export function boltRunner(bolt: AnyBolt, parts: BoltParts): ComponentRunner {
  const { accounts, settings, counters, hooks, ports, plan, serializer, tracer } = parts;
  const survivesFailures = kindOf(bolt) === 'basic-bolt';
  const acks = accounts.kind === 'tracked-bolt' ? accounts.collector : undefined;
  if (acks !== undefined) acks.anchorsToCurrent = survivesFailures;
  const concurrency = settings.get('topology.bolt.concurrency');
  const keepsOrder = concurrency > 1 && settings.get('topology.bolt.order') === 'key';
  const reader = keepsOrder ? parts.component : undefined;
  const watched = hooks.aroundBolt(bolt, survivesFailures);
  const reading = [plan, counters, serializer, reader, acks] as const;
  const options: BoltRunnerOptions = {
    ...parts,
    bolt: tracer?.aroundBolt(watched, survivesFailures) ?? watched,
    survivesFailures,
    ring: ports.dataIn,
    largeSets: ports.largeSets,
    bell: ports.bell,
    input:
      tracer === undefined
        ? new TupleInput(...reading)
        : new TracedInput((tuple, trace) => tracer.received(tuple, trace), ...reading),
    acks,
    status: ports.status,
    sampler: counters.sampler,
  };
  return concurrency > 1
    ? new ConcurrentBoltRunner({ ...options, concurrency })
    : new BoltRunner(options);
}
