import { EXIT } from '../base/exit-codes.ts';
import { instanceIdOf } from '../base/ids.ts';
import type { Completion } from '../model/completion.ts';
import type { ContainerReport, ProcessExit, ProcessReport } from '../model/container-report.ts';
import { expectedProcesses, listed } from '../model/expected-processes.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';

/*
  When a launched topology runs, and when it never will. Pure: what the state tree says goes in.

  It runs when the topology master has stored a physical plan, which it does once every stream
  manager with all of its instances has registered, and when every process is up with its
  component open.
*/

export interface StartFacts {
  readonly topology: LogicalTopology;
  readonly packingPlan: PackingPlan;
  readonly physicalPlan: PhysicalPlan | undefined;
  readonly reports: readonly ContainerReport[];
  readonly completion: Completion | undefined;
  /** What the scheduler says about the executors themselves. */
  readonly executors: readonly ProcessReport[];
}

export type StartDecision =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  /** For people: what is not there yet. */
  | { readonly kind: 'wait'; readonly missing: string }
  | { readonly kind: 'failed'; readonly process: string; readonly exit: ProcessExit };

export function decideStart(facts: StartFacts): StartDecision {
  const { topology, completion, reports, executors } = facts;
  if (completion?.topologyId === topology.id) return { kind: 'completed' };
  const processes = reports.flatMap((report) => report.processes);
  const failed = [...processes, ...executors].find(isHopeless);
  if (failed?.lastExit !== undefined) {
    return { kind: 'failed', process: failed.name, exit: failed.lastExit };
  }
  const missing = missingOf(facts);
  return missing === undefined ? { kind: 'running' } : { kind: 'wait', missing };
}

/** For people: what a topology lacks that is to run; undefined when it lacks nothing. */
export function missingOf(
  facts: Pick<StartFacts, 'topology' | 'packingPlan' | 'physicalPlan' | 'reports'>,
): string | undefined {
  const { topology, packingPlan, physicalPlan } = facts;
  const processes = facts.reports.flatMap((report) => report.processes);
  const byName = new Map(processes.map((process) => [process.name, process]));
  const missing = expectedProcesses(packingPlan).filter(
    (name) => byName.get(name)?.state !== 'running',
  );
  if (missing.length > 0) return listed(missing);
  if (physicalPlan?.topology.id !== topology.id) {
    return 'the stream managers, which have not all registered';
  }
  const closed = instancesOf(facts).filter((name) => byName.get(name)?.readyAtMs === undefined);
  return closed.length > 0 ? `the components of ${listed(closed)}` : undefined;
}

/** Those that say when their component is open; instances of other languages do not. */
function instancesOf({
  topology,
  packingPlan,
}: Pick<StartFacts, 'topology' | 'packingPlan'>): readonly string[] {
  const own = new Set(
    topology.components.filter(({ language }) => language === 'typescript').map(({ name }) => name),
  );
  return packingPlan.containers.flatMap(({ id, instances }) =>
    instances
      .filter(({ component }) => own.has(component))
      .map(({ component, task }) => instanceIdOf(id, component, task)),
  );
}

/** User code or a setting is wrong: other starts would fail as well. Or all starts are used up. */
function isHopeless({ state, lastExit }: ProcessReport): boolean {
  if (state === 'failed') return true;
  return lastExit?.code === EXIT.userCode || lastExit?.code === EXIT.badArguments;
}
