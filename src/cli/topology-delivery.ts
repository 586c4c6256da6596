import { EngineError } from '../base/errors.ts';
import type { Component, LogicalTopology } from '../model/logical-topology.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import { DEAD_LETTER_KINDS } from '../model/dead-letter.ts';
import { type Reliability, reliabilityOf } from '../model/reliability.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { findMaster, type MasterPorts, readMetrics } from '../topology-client/master-client.ts';
import type { TopologyStatus } from './read-status.ts';

/*
  What became of tuples, and whom the spouts had to wait for, as the topology master has been told:
  it is as old as metrics are, `heron.metrics.export.interval.ms`, and a restarted master begins
  anew.
*/

export interface TopologyDelivery {
  readonly mode: Reliability;
  /** Those that the master knows something of, in the order of the topology; empty at most once. */
  readonly components: readonly ComponentDelivery[];
  /** The tasks that spouts have been held for, the longest first. */
  readonly backPressure: readonly HeldFor[];
}

export interface ComponentDelivery {
  readonly component: string;
  /** Messages under way; null for bolts. */
  readonly pending: number | null;
  readonly acked: number;
  readonly failed: number;
  /** By the kind of the reason; those that have happened. */
  readonly failedBecause: Readonly<Record<string, number>>;
  /** Messages that were given up since the start; null for bolts. */
  readonly deadLetters: number | null;
}

export interface HeldFor {
  readonly component: string;
  readonly task: number;
  readonly ms: number;
}

type Values = ReadonlyMap<string, readonly number[]>;

const PENDING = '__pending-acked-count';
const REASON = '__fail-reason/';
const DEAD_LETTERS = '__dead-letter-count/';
const BEHIND = '__time_spent_back_pressure_by_compid/';
const STREAM_MANAGER = '__stmgr__';
/** Names of instances in one question, which has to fit into a packet. */
const INSTANCES_ASKED_MAX = 5_000;

/** Asks the master; null where there is none that answers. */
export async function readDelivery(
  stateManager: StateManager,
  { id, record, physicalPlan }: TopologyStatus,
): Promise<TopologyDelivery | null> {
  const { topology, name } = record;
  if (topology === undefined || id === undefined) return null;
  try {
    const master = await findMaster(stateManager, name, id);
    if (master === undefined) return null;
    const mode = reliabilityOf(topology.config);
    const [components, backPressure] = await Promise.all([
      mode === 'ATMOST_ONCE' ? [] : readComponents(master, topology),
      readBackPressure(master, physicalPlan?.instances ?? []),
    ]);
    return { mode, components, backPressure };
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

async function readComponents(
  master: MasterPorts,
  { components }: LogicalTopology,
): Promise<readonly ComponentDelivery[]> {
  const found = await Promise.all(
    components.map(async (component) =>
      deliveryOf(component, await readMetrics(master, component.name, metricsOf(component))),
    ),
  );
  return found.filter((delivery) => delivery !== undefined);
}

async function readBackPressure(
  master: MasterPorts,
  instances: readonly InstanceAddress[],
): Promise<readonly HeldFor[]> {
  const asked = instances.slice(0, INSTANCES_ASKED_MAX);
  const names = asked.map((instance) => `${BEHIND}${instance.id}`);
  return heldFor(asked, await readMetrics(master, STREAM_MANAGER, names));
}

/** What is counted by stream: a spout's by its own, a bolt's by those that it reads. */
function streamsOf(component: Component): readonly string[] {
  return component.kind === 'spout'
    ? component.outputs.map(({ stream }) => stream)
    : component.inputs.map((input) => `${input.component}/${input.stream}`);
}

function metricsOf(component: Component): readonly string[] {
  return [
    ...streamsOf(component).flatMap((key) => [`__ack-count/${key}`, `__fail-count/${key}`]),
    ...DEAD_LETTER_KINDS.map((kind) => `${REASON}${kind}`),
    ...(component.kind === 'spout'
      ? [PENDING, ...DEAD_LETTER_KINDS.map((kind) => `${DEAD_LETTERS}${kind}`)]
      : []),
  ];
}

/** Pure: `values` are the numbers of all tasks by the metric's name. Undefined: there are none. */
export function deliveryOf(component: Component, values: Values): ComponentDelivery | undefined {
  const known = [...values.values()].flat().filter((value) => !Number.isNaN(value));
  if (known.length === 0) return undefined;
  const streams = streamsOf(component);
  const sum = (names: readonly string[]): number => total(names, values);
  const failedBecause = DEAD_LETTER_KINDS.flatMap((kind) => {
    const count = sum([`${REASON}${kind}`]);
    return count === 0 ? [] : [[kind, count] as const];
  });
  const isSpout = component.kind === 'spout';
  return {
    component: component.name,
    pending: isSpout ? sum([PENDING]) : null,
    acked: sum(streams.map((stream) => `__ack-count/${stream}`)),
    failed: sum(streams.map((stream) => `__fail-count/${stream}`)),
    failedBecause: Object.fromEntries(failedBecause),
    deadLetters: isSpout ? sum(DEAD_LETTER_KINDS.map((kind) => `${DEAD_LETTERS}${kind}`)) : null,
  };
}

/** Pure: by the metrics of all stream managers. */
export function heldFor(
  instances: readonly Pick<InstanceAddress, 'id' | 'component' | 'task'>[],
  values: Values,
): readonly HeldFor[] {
  return instances
    .map(({ id, component, task }) => ({ component, task, ms: total([`${BEHIND}${id}`], values) }))
    .filter(({ ms }) => ms > 0)
    .toSorted((a, b) => b.ms - a.ms);
}

function total(names: readonly string[], values: Values): number {
  return names
    .flatMap((name) => values.get(name) ?? [])
    .filter((value) => !Number.isNaN(value))
    .reduce((sum, value) => sum + value, 0);
}
