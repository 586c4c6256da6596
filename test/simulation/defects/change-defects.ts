import { hasCode } from '../../../src/base/errors.ts';
import type { Files } from '../../../src/base/files.ts';
import { taskId } from '../../../src/base/ids.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { settledPacking } from '../../../src/model/settled-packing.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { EndMarkers } from '../../../src/stream-manager/end-markers.ts';
import { CompletionKeeper } from '../../../src/topology-master/completion-keeper.ts';
import { PlanKeeper } from '../../../src/topology-master/plan-keeper.ts';
import {
  NewInstanceAssignment,
  NewPhysicalPlan,
  StreamManagerHeartbeat,
} from '../../../src/wire/messages.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { type Defect, lying, replaced } from './defect.ts';
import { tampered, type Tampering } from './tampered-network.ts';

/* What can go wrong when a topology changes while it runs. */

const STREAM_MANAGERS = /^stmgr-/;
const UPDATE = /^heron update$/;

/** Tuples take less. */
const HELD_MS = 150;

export const CHANGE_DEFECTS: readonly Defect[] = [
  {
    name: 'the end marker towards a retiring task is forgotten',
    foundBy: 'commands reach their outcome',
    seeds: [25, 28],
    hasChanges: true,
    replace: () => replaced(EndMarkers.prototype, 'addLocalFor', () => ({ value: () => false })),
  },
  {
    name: 'tasks are said to have retired before they have',
    foundBy: 'tuples go to tasks of the plan',
    seeds: [1, 2],
    hasChanges: true,
    interposer: () => tampered(STREAM_MANAGERS, earlyRetirement),
  },
  {
    name: 'key groups still lie over retiring tasks',
    foundBy: 'same key, same task',
    seeds: [1, 2],
    hasChanges: true,
    replace: () =>
      replaced(PlanIndex.prototype, 'tasksOf', () => ({
        value(this: PlanIndex, component: Parameters<PlanIndex['allTasksOf']>[0]) {
          return this.allTasksOf(component);
        },
      })),
  },
  {
    name: 'the union is written without the tasks that retire',
    foundBy: 'tuples go to tasks of the plan',
    seeds: [1, 2],
    hasChanges: true,
    interposer: withPackingPlans(() => settledPacking),
  },
  {
    name: 'a new task gets tuples before the plan',
    foundBy: 'tuples go to tasks of the plan',
    seeds: [1, 2],
    hasChanges: true,
    interposer: () =>
      tampered(STREAM_MANAGERS, () => ({
        onSend: (packet, connection) => {
          if (packet.typeName !== NewInstanceAssignment.typeName) return 'as it is';
          connection.after(HELD_MS, () => connection.send(packet));
          return [];
        },
      })),
  },
  {
    name: 'the number of a task is given twice',
    foundBy: 'updates come to their end',
    seeds: [1, 2],
    hasChanges: true,
    interposer: withPackingPlans(reusedNumbers),
  },
  {
    name: 'a new spout is said to come too late',
    foundBy: 'updates come to their end',
    seeds: [7, 31],
    hasChanges: true,
    replace: () =>
      replaced(CompletionKeeper.prototype, 'hasEndedBefore', () => ({ value: () => true })),
  },
  {
    name: 'the topology completes while its next plan is being stored',
    foundBy: 'end of input',
    seeds: [2158, 2053],
    mode: 'at-least-once',
    hasChanges: true,
    replace: () =>
      replaced(PlanKeeper.prototype, 'inTurn', () => ({ value: (step: () => void) => step() })),
  },
];

/** As soon as tasks are to retire, heartbeats say that they have. */
function earlyRetirement(): Tampering {
  let retiring: readonly number[] = [];
  return {
    onReceive({ typeName, payload }) {
      if (typeName !== NewPhysicalPlan.typeName) return 'as it is';
      const { newPplan } = NewPhysicalPlan.decode(payload);
      retiring = (newPplan?.instances ?? []).flatMap(({ info }) =>
        info?.retiring === true ? [info.taskId] : [],
      );
      return 'as it is';
    },
    onSend(packet) {
      if (packet.typeName !== StreamManagerHeartbeat.request.typeName) return 'as it is';
      const heartbeat = StreamManagerHeartbeat.request.decode(packet.payload);
      heartbeat.retiredTaskIds = [...retiring];
      return [{ ...packet, payload: StreamManagerHeartbeat.request.encode(heartbeat) }];
    },
  };
}

/** A new task gets the number of one that has gone, if there is one. */
function reusedNumbers(): (plan: PackingPlan) => PackingPlan {
  const given = new Set<number>();
  return (plan) => {
    const tasks = plan.containers.flatMap(({ instances }) => instances.map(({ task }) => task));
    const gone = [...given].find((number) => !tasks.some((task) => task === number));
    const added = given.size === 0 ? undefined : tasks.find((task) => !given.has(task));
    for (const task of tasks) given.add(task);
    if (gone === undefined || added === undefined) return plan;
    const containers = plan.containers.map((container) => ({
      ...container,
      instances: container.instances.map((instance) =>
        instance.task === added ? { ...instance, task: taskId(gone) } : instance,
      ),
    }));
    return { ...plan, containers };
  };
}

/** Updates store another plan than they have made. */
function withPackingPlans(lie: () => (plan: PackingPlan) => PackingPlan): () => Interposer {
  return () => {
    const change = lie();
    return {
      portsOf: (ports, { name }) =>
        UPDATE.test(name) ? { ...ports, files: withChangedPlans(ports.files, change) } : ports,
    };
  };
}

function withChangedPlans(files: Files, change: (plan: PackingPlan) => PackingPlan): Files {
  return lying(files, {
    write(file, bytes, options) {
      const plan = planIn(bytes);
      const written = plan === undefined ? bytes : encodePackingPlan(change(plan));
      return files.write(file, written, options);
    },
  });
}

function planIn(bytes: Uint8Array): PackingPlan | undefined {
  try {
    const plan = decodePackingPlan(bytes);
    return plan.containers.length > 0 && plan.epoch !== undefined ? plan : undefined;
  } catch (error) {
    if (!hasCode(error, 'STATE_CORRUPTED')) throw error;
    return undefined; // Something else is written.
  }
}
