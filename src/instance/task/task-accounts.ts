import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Component } from '../../model/logical-topology.ts';
import type { Settings } from '../../model/settings.ts';
import type { AckFold } from '../../wire/ack-fold.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import { AckedAtOnce } from './acked-at-once.ts';
import { BoltCollector } from './bolt-collector.ts';
import type { CollectorOptions, ComponentCollector } from './component-collector.ts';
import { PendingMessages } from './pending-messages.ts';
import { SpoutCollector } from './spout-collector.ts';
import type { SpoutMessages } from './spout-messages.ts';
import { TaskCollector } from './task-collector.ts';
import type { TaskPorts } from './task-ports.ts';
import { TrackedMessages } from './tracked-messages.ts';

/** What keeps account of a task's tuples: where its calls end up, and what comes back of them. */
export type TaskAccounts =
  | {
      readonly kind: 'at-most-once';
      readonly collector: ComponentCollector;
      readonly messages: SpoutMessages;
    }
  | {
      readonly kind: 'tracked-spout';
      readonly collector: ComponentCollector;
      readonly messages: TrackedMessages;
    }
  | { readonly kind: 'tracked-bolt'; readonly collector: BoltCollector };

export interface TaskAccountsOptions extends CollectorOptions {
  readonly identity: InstanceIdentity;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly ports: TaskPorts;
  /** The one that the output writes, under at least once. */
  readonly acks: AckFold | undefined;
}

export function taskAccounts(
  { kind }: Pick<Component, 'kind'>,
  options: TaskAccountsOptions,
): TaskAccounts {
  const { acks } = options;
  if (acks === undefined) {
    const collector = new TaskCollector(options);
    return { kind: 'at-most-once', collector, messages: collector.messages };
  }
  if (kind === 'spout') return trackedSpout(options);
  return { kind: 'tracked-bolt', collector: new BoltCollector({ ...options, acks }) };
}

function trackedSpout(options: TaskAccountsOptions): TaskAccounts {
  const { identity, settings, counters, streams, ports, random, clock } = options;
  const { task } = identity;
  const pending = new PendingMessages(random.uint32());
  const atOnce = new AckedAtOnce(counters.acked);
  const messages = new TrackedMessages({
    task,
    pending,
    atOnce,
    pendingMax: settings.get('topology.max.spout.pending'),
    ring: ports.dataIn,
    largeSets: ports.largeSets,
    clock,
    counters,
    streamCounters: streams.map(({ output }) => counters.messages(output.stream)),
  });
  const collector = new SpoutCollector({ ...options, task, pending, atOnce });
  return { kind: 'tracked-spout', collector, messages };
}
