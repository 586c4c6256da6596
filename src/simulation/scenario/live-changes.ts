import { assertDefined } from '../../base/assert.ts';
import { componentName } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { effectiveConfig } from '../../model/runtime-config.ts';
import { packingInForce, settledPacking } from '../../model/settled-packing.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { LiveCommand } from '../faults/fault.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import { CHANGED_SETTING } from '../workload/workload-task.ts';

/** Gives a command that changes a running topology. Resolves with a look at its outcome. */
export async function giveChange(
  command: LiveCommand,
  cluster: SimulatedCluster,
  workload: WorkloadDescription,
): Promise<() => boolean> {
  if (command.command === 'configure') {
    const value = String(command.value);
    await cluster.command.configure(`${CHANGED_SETTING}:${value}`);
    return () => {
      const config = cluster.plan()?.topology.config;
      return config !== undefined && effectiveConfig(config).get(CHANGED_SETTING) === value;
    };
  }
  const wanted = settledPacking(await cluster.command.update(requestOf(command, workload)));
  return () => isInForce(wanted, cluster.storedPacking(), cluster.plan());
}

function requestOf(
  command: Exclude<LiveCommand, { command: 'configure' }>,
  { spouts, bolts }: WorkloadDescription,
): RepackRequest {
  if (command.command === 'resize') return { containers: command.containers };
  const components = [...spouts, ...bolts];
  const component = assertDefined(components[command.component % components.length], 'counted');
  return { parallelism: new Map([[componentName(component.name), command.parallelism]]) };
}

/** Whether exactly this is stored, and in force. */
function isInForce(
  wanted: PackingPlan,
  stored: PackingPlan | undefined,
  plan: PhysicalPlan | undefined,
): boolean {
  if (stored === undefined || plan === undefined) return false;
  const isSettled = settledPacking(stored) === stored && tasksOf(stored) === tasksOf(wanted);
  const { length } = wanted.containers.flatMap(({ instances }) => instances);
  return (
    isSettled &&
    plan.instances.length === length &&
    plan.instances.every(({ joiningEpoch }) => joiningEpoch === undefined) &&
    tasksOf(packingInForce(wanted, plan)) === tasksOf(wanted)
  );
}

function tasksOf({ containers }: PackingPlan): string {
  const tasks = containers.flatMap(({ id, instances }) =>
    instances.map(({ task }) => `${task} in ${id}`),
  );
  return tasks.toSorted().join(', ');
}
