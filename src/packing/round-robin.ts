import { assertDefined } from '../base/assert.ts';
import { userError } from '../base/errors.ts';
import { type ComponentName, containerId, taskId } from '../base/ids.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { ContainerPlan, InstancePlan, PackingPlan } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import { type ResourceRule, share } from './container-share.ts';

/*
  Heron's round-robin packing: components in descending order of the memory that they ask for, their
  tasks numbered from 1 and dealt to the containers in turn.

  Departs from Heron in two places, where it gave small containers the size of the largest one:
  without a limit each task gets the default instead of a share of the largest container, and disk
  is the sum of a container's own tasks plus padding. Evenly filled containers get Heron's numbers.

  R1. Every task is in one container, and the sizes of two containers differ by one task at most.
  R2. The same topology always gives the same plan.
*/

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** What a task gets of which neither its component nor the container's limit says anything. */
const TASK_DEFAULT = { cpuCores: 1, ramBytes: GIB, diskBytes: GIB } as const;
/** A task below this would die at once. */
const TASK_RAM_BYTES_MIN = 16 * MIB;
/** Room for logs and the unpacked topology; Heron's number. */
const DISK_PADDING_BYTES = 12 * GIB;
/**
 * Far beyond what one topology master can lead; keeps a slip of the keyboard from filling memory.
 */
const TASKS_MAX = 100_000;

export interface Packed {
  readonly plan: PackingPlan;
  /** One sentence for each thing that the user should know. */
  readonly warnings: readonly string[];
}

/**
 * Deals the tasks of a valid topology to `topology.stmgrs` containers.
 *
 * @throws EngineError INVALID_CONFIG when there are fewer tasks than containers, or when the limits
 *   of a container are too small; the message has the numbers.
 */
export function packRoundRobin(topology: LogicalTopology): Packed {
  const settings = new Settings(topology.config);
  const rules = resourceRules(settings);
  const containers = deal(topology, settings).map((tasks, index) => {
    const where = `container ${index + 1}`;
    const components = tasks.map(({ component }) => component);
    const cpu = share(rules.cpu, where, components);
    const ram = share(rules.ram, where, components);
    const disk = share(rules.disk, where, components);
    const plan: ContainerPlan = {
      id: containerId(index + 1),
      instances: tasks.map((task, position) => ({
        ...task,
        resource: {
          cpuCores: amountAt(cpu.tasks, position),
          ramBytes: amountAt(ram.tasks, position),
          diskBytes: amountAt(disk.tasks, position),
        },
      })),
      required: {
        cpuCores: cpu.container,
        ramBytes: ram.container,
        diskBytes: disk.container,
      },
    };
    return { plan, warnings: [cpu, ram, disk].flatMap(({ warning }) => warning ?? []) };
  });
  return {
    plan: { id: topology.id, containers: containers.map(({ plan }) => plan) },
    warnings: containers.flatMap(({ warnings }) => warnings),
  };
}

type PlacedTask = Omit<InstancePlan, 'resource'>;

/** The tasks of each container. */
function deal(topology: LogicalTopology, settings: Settings): readonly (readonly PlacedTask[])[] {
  const containers = settings.get('topology.stmgrs');
  const tasks = topology.components.reduce((sum, { parallelism }) => sum + parallelism, 0);
  if (tasks > TASKS_MAX) {
    const text = `the topology has ${tasks} tasks, more than ${TASKS_MAX}: lower the parallelism`;
    throw userError('INVALID_CONFIG', text);
  }
  if (containers > tasks) {
    throw userError(
      'INVALID_CONFIG',
      `topology.stmgrs: ${containers} containers are more than the ${tasks} tasks of the topology`,
    );
  }
  const memory = settings.get('topology.component.rammap');
  const asked = (component: ComponentName): number => memory?.get(component) ?? 0;
  const dealt: PlacedTask[][] = Array.from({ length: containers }, () => []);
  let count = 0;
  for (const { name, parallelism } of topology.components.toSorted(
    (left, right) => asked(right.name) - asked(left.name),
  )) {
    for (let componentIndex = 0; componentIndex < parallelism; componentIndex++) {
      const container = assertDefined(
        dealt[count % containers],
        'the remainder is below the length',
      );
      count += 1;
      container.push({ component: name, task: taskId(count), componentIndex });
    }
  }
  return dealt;
}

function resourceRules(settings: Settings): Readonly<Record<'cpu' | 'ram' | 'disk', ResourceRule>> {
  const none: ReadonlyMap<string, number> = new Map();
  return {
    cpu: {
      unit: 'cores of CPU', // To the thousandth, the finest that schedulers take.
      limitKey: 'topology.container.cpu',
      limit: settings.get('topology.container.cpu'),
      padding: settings.get('topology.container.cpu.padding'),
      default: TASK_DEFAULT.cpuCores,
      min: 0,
      byComponent: settings.get('topology.component.cpumap') ?? none,
      roundDown: (amount) => Math.floor(amount * 1000) / 1000,
    },
    ram: {
      unit: 'bytes of memory',
      limitKey: 'topology.container.ram',
      limit: settings.get('topology.container.ram'),
      padding: settings.get('topology.container.ram.padding') ?? ownProcessesRam(settings),
      default: TASK_DEFAULT.ramBytes,
      min: TASK_RAM_BYTES_MIN,
      byComponent: settings.get('topology.component.rammap') ?? none,
      roundDown: Math.floor,
    },
    disk: {
      unit: 'bytes of disk',
      limitKey: 'topology.container.disk',
      limit: settings.get('topology.container.disk'),
      padding: DISK_PADDING_BYTES,
      default: TASK_DEFAULT.diskBytes,
      min: 0,
      byComponent: settings.get('topology.component.diskmap') ?? none,
      roundDown: Math.floor,
    },
  };
}

function ownProcessesRam(settings: Settings): number {
  return settings.get('topology.stmgr.ram') + settings.get('topology.metricsmgr.ram');
}

function amountAt(amounts: readonly number[], position: number): number {
  return assertDefined(amounts[position], 'there is a share for each task');
}
