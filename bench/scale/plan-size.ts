import { epoch } from '../../src/base/ids.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { expectedInstances } from '../../src/topology-master/placement.ts';
import {
  NewInstanceAssignment,
  NewPhysicalPlan,
  RegisterStreamManager,
  StatusCode,
  StoredPhysicalPlan,
} from '../../src/wire/messages.ts';
import { decodePackingPlan, encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { physicalPlanFromMessage, physicalPlanToMessage } from '../../src/wire/physical-plan.ts';
import { encodeTopology, topologyToMessage } from '../../src/wire/topology.ts';
import type { Measurements } from './measurement.ts';
import { addressOf, type SizedTopology } from './sized-topology.ts';

/* How many bytes the plans are, alone and for all who get them, and what reading one costs. */

const BYTES_PER_MB = 1e6;

export function measurePlans(sized: SizedTopology, measurements: Measurements): void {
  const { containers, topology, packing } = sized;
  const note = (what: string, value: number, unit: string): void =>
    measurements.note(containers, what, value, unit);
  const message = physicalPlanToMessage(
    {
      epoch: epoch(3),
      streamManagers: packing.containers.map(({ id }) => addressOf(id)),
      instances: expectedInstances(packing),
    },
    topologyToMessage(topology),
  );
  const toStreamManager = NewPhysicalPlan.create({ newPplan: message, masterEpoch: 2n });
  const toInstance = NewInstanceAssignment.create({ pplan: message });
  const welcome = RegisterStreamManager.response.create({
    status: { status: StatusCode.OK, message: 'Welcome StreamManager' },
    pplan: message,
    masterEpoch: 2n,
  });
  const [forOne, forInstance] = [
    NewPhysicalPlan.encode(toStreamManager).length,
    NewInstanceAssignment.encode(toInstance).length,
  ];
  const instances = message.instances.length;
  const packingBytes = encodePackingPlan(packing);
  note('topology', encodeTopology(topology).length, 'bytes');
  note('packing plan', packingBytes.length, 'bytes');
  note('physical plan', StoredPhysicalPlan.encode(message).length, 'bytes');
  note('plan to one stream manager', forOne, 'bytes');
  note(
    'answer to one that registers',
    RegisterStreamManager.response.encode(welcome).length,
    'bytes',
  );
  note('plan to one instance', forInstance, 'bytes');
  note('plan to all stream managers', (forOne * containers) / BYTES_PER_MB, 'MB');
  note('plan to all instances', (forInstance * instances) / BYTES_PER_MB, 'MB');
  note(
    'encoding the plan',
    cpuMsOf(() => NewPhysicalPlan.encode(toStreamManager)),
    'CPU ms',
  );
  const bytes = StoredPhysicalPlan.encode(message);
  note('a plan that was read, with its index', heapMbOf(bytes), 'MB');
  note(
    'reading the plan',
    cpuMsOf(() => physicalPlanFromMessage(StoredPhysicalPlan.decode(bytes))),
    'CPU ms',
  );
  note(
    'reading the packing plan',
    cpuMsOf(() => decodePackingPlan(packingBytes)),
    'CPU ms',
  );
}

/** What stays in memory for one of those who get the plan. */
function heapMbOf(bytes: Uint8Array): number {
  const copies = 5;
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: copies }, () => {
    const message = StoredPhysicalPlan.decode(bytes);
    return { message, index: new PlanIndex(physicalPlanFromMessage(message)) };
  });
  globalThis.gc?.();
  const after = process.memoryUsage().heapUsed;
  return (after - before) / BYTES_PER_MB / kept.length;
}

/** The mean of some calls, after as many that warm up. */
function cpuMsOf(call: () => unknown): number {
  const calls = 20;
  for (let count = 0; count < calls; count += 1) call();
  const before = process.cpuUsage();
  for (let count = 0; count < calls; count += 1) call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / calls;
}
