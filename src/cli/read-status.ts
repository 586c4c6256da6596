import { isoTime } from '../base/iso-time.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import type { Completion } from '../model/completion.ts';
import { type ContainerReport, parseContainerReport } from '../model/container-report.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { decodePhysicalPlan } from '../wire/physical-plan.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { ensureScheduler } from './ensure-scheduler.ts';
import type { Place } from './place.ts';
import { readTopologyRecord, type TopologyRecord } from './topology-record.ts';
import { type ShownState, topologyState } from '../model/topology-state.ts';
import { confirmSubmit, unconfirmedSubmit } from './unconfirmed-submit.ts';
import { type UpdateProgress, updateProgress } from '../model/update-progress.ts';

/** One topology as `status` and `list` see it. */
export interface TopologyStatus {
  readonly record: TopologyRecord;
  readonly id: TopologyId | undefined;
  readonly state: ShownState;
  /** When it was submitted; of a completed one, when it completed. */
  readonly sinceMs: number | undefined;
  readonly physicalPlan: PhysicalPlan | undefined;
  readonly reports: readonly ContainerReport[];
  readonly completion: Completion | undefined;
  readonly schedulerPid: number | undefined;
  /** Undefined when none is under way. */
  readonly update: UpdateProgress | undefined;
}

const MS_PER_SECOND = 1000;
const KNOWN_TO_RUN: ReadonlySet<ShownState> = new Set([
  'RUNNING',
  'PAUSED',
  'DRAINING',
  'COMPLETED',
]);

/** Helps a dead scheduler first. `place` is the topology's own. */
export async function readStatus(
  record: TopologyRecord,
  place: Place,
  cluster: Cluster,
  context: CommandContext,
): Promise<TopologyStatus> {
  const scheduler = record.hasNodes
    ? await ensureScheduler(record, place, cluster, context)
    : undefined;
  // Repairing may have changed everything: a kill that was interrupted is now done.
  const current =
    scheduler === undefined || scheduler === 'alive'
      ? record
      : await readTopologyRecord(cluster.stateManager, record.name);
  const { name, topology, packingPlan, execution, completion } = current;
  const physicalPlan = await readPhysicalPlan(cluster.stateManager, current);
  const reports = await readReports(cluster.stateManager, current);
  const { schedulerPid } = await cluster.scheduler.describe({ ...place, topologyName: name });
  const id = topology?.id ?? completion?.topologyId;
  const sinceSeconds = execution?.submittedAtSeconds;
  const state = topologyState({
    id,
    packingPlan,
    physicalPlan,
    reports,
    completion,
    isDamaged: current.damage.length > 0,
    scheduler,
  });
  if (KNOWN_TO_RUN.has(state)) await confirmIfDead(cluster.stateManager, name);
  return {
    record: current,
    id,
    state,
    sinceMs: completion?.completedAtMs ?? (sinceSeconds && sinceSeconds * MS_PER_SECOND),
    physicalPlan,
    reports,
    completion,
    schedulerPid,
    update: updateOf(packingPlan, physicalPlan, id, reports),
  };
}

function updateOf(
  packingPlan: PackingPlan | undefined,
  physicalPlan: PhysicalPlan | undefined,
  id: TopologyId | undefined,
  reports: readonly ContainerReport[],
): UpdateProgress | undefined {
  if (packingPlan === undefined || physicalPlan === undefined) return undefined;
  if (physicalPlan.topology.id !== id) return undefined;
  return updateProgress({ packingPlan, physicalPlan, reports });
}

/** The form in which all JSON answers give a moment; null when it is not known. */
export function isoOrNull(wallMs: number | undefined): string | null {
  return wallMs === undefined ? null : isoTime(wallMs);
}

/** Whoever sees this status knows that the topology runs, whatever became of its submit. */
async function confirmIfDead(stateManager: StateManager, name: TopologyName): Promise<void> {
  const submit = await unconfirmedSubmit(stateManager, name);
  if (submit === 'dead') await confirmSubmit(stateManager, name);
}

/** Undefined also for one that cannot be read. */
export async function readPhysicalPlan(
  stateManager: StateManager,
  { name }: Pick<TopologyRecord, 'name'>,
): Promise<PhysicalPlan | undefined> {
  const bytes = await stateManager.read(paths.physicalPlan(name));
  return bytes === undefined ? undefined : unlessDamaged(() => decodePhysicalPlan(bytes));
}

/** By container; what cannot be read is left out. */
export async function readReports(
  stateManager: StateManager,
  { name }: Pick<TopologyRecord, 'name'>,
): Promise<readonly ContainerReport[]> {
  const folder = paths.containers(name);
  const nodes = await Promise.all(
    (await stateManager.list(folder)).map((child) => stateManager.read(`${folder}/${child}`)),
  );
  return nodes
    .flatMap((bytes) =>
      bytes === undefined ? [] : (unlessDamaged(() => parseContainerReport(bytes)) ?? []),
    )
    .toSorted((a, b) => a.containerId - b.containerId);
}

/** What its writer will soon write again is shown as missing. */
function unlessDamaged<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
