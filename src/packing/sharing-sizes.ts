import { assertDefined } from '../base/assert.ts';
import type { ComponentName } from '../base/ids.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { Settings } from '../model/settings.ts';
import type { ContainerSize, SizeContainer } from './assemble-plan.ts';
import { type ResourceRule, type Share, share } from './container-share.ts';
import { GIB, MIB, TASK_DEFAULT } from './task-defaults.ts';

/** A task below this would die at once. */
const TASK_RAM_BYTES_MIN = 16 * MIB;
/** Room for logs and the unpacked topology; Heron's number. */
const DISK_PADDING_BYTES = 12 * GIB;
/** The finest share of a core that schedulers take. */
const CPU_SHARES = 1000;

/** Sizes containers whose tasks share what the limits leave. */
export function sharingSizes({ config }: LogicalTopology): SizeContainer {
  const rules = resourceRules(new Settings(config));
  return (where, tasks): ContainerSize => {
    const cpu = share(rules.cpu, where, tasks);
    const ram = share(rules.ram, where, tasks);
    const disk = share(rules.disk, where, tasks);
    return {
      tasks: tasks.map((_, position) => ({
        cpuCores: amountAt(cpu, position),
        ramBytes: amountAt(ram, position),
        diskBytes: amountAt(disk, position),
      })),
      container: {
        cpuCores: cpu.container,
        ramBytes: ram.container,
        diskBytes: disk.container,
      },
      warnings: [cpu, ram, disk].flatMap(({ warning }) => warning ?? []),
    };
  };
}

function resourceRules(settings: Settings): Readonly<Record<'cpu' | 'ram' | 'disk', ResourceRule>> {
  const none: ReadonlyMap<ComponentName, number> = new Map();
  return {
    cpu: {
      unit: 'cores of CPU',
      limitKey: 'topology.container.cpu',
      limit: settings.get('topology.container.cpu'),
      padding: settings.get('topology.container.cpu.padding'),
      default: TASK_DEFAULT.cpuCores,
      min: 0,
      byComponent: settings.get('topology.component.cpumap') ?? none,
      roundDown: (amount) => Math.floor(amount * CPU_SHARES) / CPU_SHARES,
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

function amountAt({ tasks }: Share, position: number): number {
  return assertDefined(tasks[position], 'there is a share for each task');
}
