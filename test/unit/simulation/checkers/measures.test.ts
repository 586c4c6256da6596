import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { packRoundRobin } from '../../../../src/packing/round-robin.ts';
import { HoldingsMeasurer, largestSetBytes } from '../../../../src/simulation/checkers/measures.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import { topologyId } from '../../../../src/base/ids.ts';
import { aPhysicalPlan } from '../../../support/topologies.ts';
import { aBoltPlan, aSpoutPlan, aWorkloadPlan } from '../workload/small-workloads.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

function aMeasurer(change: Parameters<typeof aWorkloadPlan>[0] = {}): HoldingsMeasurer {
  const plan = aWorkloadPlan(change);
  const { topology: declared } = createWorkload(plan).topology;
  const topology = { ...declared, id: topologyId('small-1'), state: 'RUNNING' } as const;
  const physical = aPhysicalPlan(topology, packRoundRobin(topology).plan);
  return new HoldingsMeasurer({ plan: physical, workload: plan });
}

test('the largest set holds the largest tuple', () => {
  const streams = [{ name: 'default', payloadBytes: [0, 100_000, 5], keys: 1 }];
  const plan = aWorkloadPlan({ spouts: [aSpoutPlan({ streams })] });
  assert.equal(largestSetBytes(plan), 40 * KIB + 100_000);
});

test('a stream manager is measured by windows, tasks and peers', () => {
  const measures = aMeasurer().ofStreamManager('stmgr-1', {
    outboxes: [
      { task: taskId(1), queuedBytes: 3, underWayBytes: 4 },
      { task: taskId(2), queuedBytes: 5, underWayBytes: 6 },
    ],
    destinations: [{ task: taskId(1), unconsumedBytes: 7, waitingBytes: 8 }],
    heldBytes: 9,
  });
  const setBytes = 40 * KIB + 4;
  const local = 2; // Of the three tasks.
  assert.deepEqual(measures, [
    {
      what: 'sets that wait in all outboxes',
      bytes: 8,
      limitBytes: local * 3 * (MIB + setBytes),
    },
    { what: 'sets that came before a plan', bytes: 9, limitBytes: local * (MIB + setBytes) },
    { what: 'what is under way to task 1', bytes: 4, limitBytes: 512 * KIB + setBytes },
    { what: 'what is under way to task 2', bytes: 6, limitBytes: 512 * KIB + setBytes },
    {
      what: 'what task 1 has not consumed',
      bytes: 7,
      limitBytes: 2 * (512 * KIB + setBytes),
      perConnectionEndBytes: 512 * KIB + setBytes,
    },
    {
      what: 'what waits for the instance of task 1',
      bytes: 8,
      limitBytes: 2 * (512 * KIB + setBytes),
      perConnectionEndBytes: 512 * KIB + setBytes,
    },
  ]);
});

test('settings of the topology move the limits', () => {
  const measurer = aMeasurer({ config: { 'heron.streammgr.credit.bytes': '65536' } });
  const [, , underWay] = measurer.ofStreamManager('stmgr-1', {
    outboxes: [{ task: taskId(1), queuedBytes: 0, underWayBytes: 1 }],
    destinations: [],
    heldBytes: 0,
  });
  assert.equal(underWay?.limitBytes, 64 * KIB + 40 * KIB + 4);
});

test('an instance keeps what one call emits, and no limit is known where timers emit', () => {
  const held = { waitingBytes: 1, keptBytes: 2 };
  const flood = aMeasurer({
    spouts: [aSpoutPlan({ pace: { kind: 'flood', perCall: 10 } })],
  }).ofInstance('source', held);
  assert.deepEqual(flood.at(-1), {
    what: 'sets that wait for room in the data-out ring',
    bytes: 2,
    limitBytes: 80 * KIB + 10 * (4 + KIB),
  });
  const timer = aSpoutPlan({ pace: { kind: 'timer', everyMs: 1 } });
  assert.equal(aMeasurer({ spouts: [timer] }).ofInstance('source', held).length, 1);
  const detached = aBoltPlan({ style: { kind: 'detached', afterMs: 1 } });
  assert.equal(aMeasurer({ bolts: [detached] }).ofInstance('sink', held).length, 1);
  assert.equal(aMeasurer().ofInstance('sink', held).length, 2);
});
