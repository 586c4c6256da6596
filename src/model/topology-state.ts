import type { TopologyId } from '../base/ids.ts';
import type { Completion } from './completion.ts';
import type { ContainerReport } from './container-report.ts';
import type { PackingPlan } from './packing-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { packingThatRuns } from './settled-packing.ts';
import { expectedProcesses } from './expected-processes.ts';

/**
 * - `STARTING`: not every process has come up yet.
 * - `RUNNING`, `PAUSED`: as its plan says, and every process is there.
 * - `DRAINING`: its spouts have ended; it ends when everything has been processed.
 * - `DEGRADED`: it runs, but a process is missing.
 * - `COMPLETED`: its input has ended.
 * - `HALF_DEAD`: a command died while it made or ended it; nothing of it works.
 * - `DAMAGED`: its records cannot be read.
 */
export const TOPOLOGY_STATES = [
  'STARTING',
  'RUNNING',
  'PAUSED',
  'DRAINING',
  'DEGRADED',
  'COMPLETED',
  'HALF_DEAD',
  'DAMAGED',
] as const;

export type ShownState = (typeof TOPOLOGY_STATES)[number];

export interface StateFacts {
  readonly id: TopologyId | undefined;
  readonly packingPlan: PackingPlan | undefined;
  readonly physicalPlan: PhysicalPlan | undefined;
  readonly reports: readonly ContainerReport[];
  readonly completion: Completion | undefined;
  readonly isDamaged: boolean;
  /** Undefined while another command works on it, or when the scheduler cannot be helped. */
  readonly scheduler: 'alive' | 'restarted' | 'ended' | 'absent' | undefined;
}

/** Pure: the one word that says how a topology is. */
export function topologyState(facts: StateFacts): ShownState {
  const { id, packingPlan, physicalPlan, reports, completion, scheduler } = facts;
  if (facts.isDamaged) return 'DAMAGED';
  if (completion !== undefined) return 'COMPLETED';
  if (scheduler === 'absent') return 'HALF_DEAD';
  if (physicalPlan === undefined || physicalPlan.topology.id !== id) return 'STARTING';
  if (physicalPlan.topology.state === 'KILLED') return 'DRAINING';
  const running = new Set(
    reports.flatMap(({ processes }) =>
      processes.filter(({ state }) => state === 'running').map(({ name }) => name),
    ),
  );
  // What an update adds is not missed before it is in force, nor what it takes away afterwards.
  const expected = packingPlan && packingThatRuns(packingPlan, physicalPlan);
  const isWhole =
    expected !== undefined && expectedProcesses(expected).every((name) => running.has(name));
  if (!isWhole || scheduler === undefined) return 'DEGRADED';
  return physicalPlan.topology.state === 'PAUSED' ? 'PAUSED' : 'RUNNING';
}
