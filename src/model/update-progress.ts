import { instanceIdOf, streamManagerIdOf } from '../base/ids.ts';
import type { ContainerReport } from './container-report.ts';
import type { PackingPlan } from './packing-plan.ts';
import type { InstanceAddress, PhysicalPlan } from './physical-plan.ts';
import { packingInForce, settledPacking } from './settled-packing.ts';
import { expectedProcesses, listed } from './expected-processes.ts';
import { type SizeChange, sizeChanges } from './plan-sizes.ts';

/*
  How far an update is, by the state tree. Pure. Its phases, in their order:

    starting  new processes come up; the plan before is in force
    retiring  the new plan is in force; the tasks that go work off their input
    settling  they have ended; their processes and records are being removed
*/

/** An update that is under way. */
export interface UpdateProgress {
  readonly phase: 'starting' | 'retiring' | 'settling';
  /** What it changes, as long as the plan before is in force. */
  readonly changes: readonly SizeChange[];
  /** Processes of the new plan that do not run. */
  readonly missing: readonly string[];
  /** Instances that work off their input, or will when the new plan is in force. */
  readonly retiring: readonly string[];
}

export interface ProgressFacts {
  readonly packingPlan: PackingPlan;
  readonly physicalPlan: PhysicalPlan;
  readonly reports: readonly ContainerReport[];
}

/** Undefined when none is under way. */
export function updateProgress(facts: ProgressFacts): UpdateProgress | undefined {
  const { packingPlan, physicalPlan } = facts;
  const target = settledPacking(packingPlan);
  const retiring = packingPlan.containers.flatMap(({ id, instances }) =>
    instances
      .filter(({ isRetiring }) => isRetiring === true)
      .map(({ component, task }) => instanceIdOf(id, component, task)),
  );
  const phase = phaseOf(target, retiring, physicalPlan);
  if (phase === undefined) return undefined;
  const changes = sizeChanges(packingInForce(packingPlan, physicalPlan), target);
  return { phase, changes, missing: missingProcesses(target, facts.reports), retiring };
}

function phaseOf(
  target: PackingPlan,
  retiring: readonly string[],
  physicalPlan: PhysicalPlan,
): UpdateProgress['phase'] | undefined {
  const staying = physicalPlan.instances.filter(({ isRetiring }) => isRetiring !== true);
  if (!isInForce(target, { instances: staying }) || !staying.every(hasJoined)) return 'starting';
  if (staying.length < physicalPlan.instances.length) return 'retiring';
  return retiring.length > 0 ? 'settling' : undefined;
}

/** A new spout task begins a moment later than the plan that it comes with. */
function hasJoined({ joiningEpoch }: InstanceAddress): boolean {
  return joiningEpoch === undefined;
}

/** Whether a physical plan has exactly the tasks of a packing plan, where that has them. */
export function isInForce(
  plan: PackingPlan,
  { instances }: Pick<PhysicalPlan, 'instances'>,
): boolean {
  const placed = placesOf(plan);
  return (
    placed.size === instances.length &&
    instances.every(
      ({ streamManager, component, task, isRetiring }) =>
        isRetiring !== true && placed.has(placeText(streamManager, component, task)),
    )
  );
}

/** Whether two plans have the same tasks in the same containers. */
export function isSamePlacing(left: PackingPlan, right: PackingPlan): boolean {
  const places = placesOf(left);
  const others = placesOf(right);
  return places.size === others.size && [...places].every((place) => others.has(place));
}

function placesOf({ containers }: PackingPlan): ReadonlySet<string> {
  return new Set(
    containers.flatMap(({ id, instances }) =>
      instances.map(({ component, task }) => placeText(streamManagerIdOf(id), component, task)),
    ),
  );
}

function placeText(streamManager: string, component: string, task: number): string {
  return `${streamManager} ${component} ${task}`;
}

/** Of those that a plan needs; by the names that executors give them. */
export function missingProcesses(
  plan: PackingPlan,
  reports: readonly ContainerReport[],
): readonly string[] {
  const running = new Set(
    reports.flatMap(({ processes }) =>
      processes.filter(({ state }) => state === 'running').map(({ name }) => name),
    ),
  );
  return expectedProcesses(plan).filter((name) => !running.has(name));
}

/** Processes of worker containers that a plan has no place for; they are being ended. */
export function leftOver(
  plan: PackingPlan,
  reports: readonly ContainerReport[],
): readonly string[] {
  const expected = new Set(expectedProcesses(plan));
  const containers = new Set(plan.containers.map(({ id }) => id));
  const workers = reports.filter(({ containerId }) => containerId !== 0);
  return workers.flatMap(({ containerId, processes }) => [
    ...processes.map(({ name }) => name).filter((name) => !expected.has(name)),
    // An executor reports until none of its processes is left.
    ...(containers.has(containerId) ? [] : [`executor-${containerId}`]),
  ]);
}

/** For people: what is waited for. */
export function progressText({
  phase,
  missing,
  retiring,
}: Pick<UpdateProgress, 'phase' | 'missing' | 'retiring'>): string {
  switch (phase) {
    case 'starting':
      return missing.length > 0
        ? `missing: ${listed(missing)}`
        : 'missing: the stream managers, which have not all registered their new instances';
    case 'retiring':
      return `the new plan is in force; working off what is in hand: ${listed(retiring)}`;
    case 'settling':
      return `ending: ${listed(retiring)}`;
  }
}
