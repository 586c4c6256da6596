import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, epoch } from '../../../src/base/ids.ts';
import { expectedProcesses } from '../../../src/model/expected-processes.ts';
import { changesText } from '../../../src/model/plan-sizes.ts';
import {
  isInForce,
  isSamePlacing,
  leftOver,
  progressText,
  updateProgress,
} from '../../../src/model/update-progress.ts';
import type { ContainerReport } from '../../../src/model/container-report.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { settledPacking } from '../../../src/model/settled-packing.ts';
import { createPacking } from '../../../src/packing/create.ts';
import { updatedPlan } from '../../../src/packing/update-plan.ts';
import { parallelismOf, topologyOf } from '../../support/packing-cases.ts';
import { aPhysicalPlan } from '../../support/topologies.ts';

const topology = topologyOf({ a: 2, b: 1 });
const packed = createPacking(topology.config).pack(topology).plan;
const before = aPhysicalPlan(topology, packed);
/** 1 a, 2 a (retiring), 3 b, 4 b, in one container. */
const { union } = updatedPlan({
  topology,
  packingPlan: packed,
  physicalPlan: before,
  request: { parallelism: parallelismOf({ a: 1, b: 2 }), containers: 1 },
});
const stored: PackingPlan = { ...union, epoch: epoch(2) };

function reportOf(names: readonly string[]): readonly ContainerReport[] {
  const processes = names.map((name) => ({
    name,
    pid: 1,
    state: 'running' as const,
    restarts: 0,
    startedAtMs: 1,
  }));
  return [{ containerId: containerId(1), host: 'here', pid: 1, startedAtMs: 1, processes }];
}

const old = reportOf(expectedProcesses(packed));
const all = reportOf(expectedProcesses(stored));

test('an update begins with its processes, and says which are missing', () => {
  const facts = { packingPlan: stored, physicalPlan: before };
  const progress = updateProgress({ ...facts, reports: old });
  assert.ok(progress !== undefined);
  assert.equal(changesText(progress.changes), 'a 2 → 1, b 1 → 2');
  assert.deepEqual(
    { ...progress, changes: [] },
    {
      phase: 'starting',
      changes: [],
      missing: ['container_1_b_4'],
      retiring: ['container_1_a_2'],
    },
  );
  assert.equal(progressText(progress), 'missing: container_1_b_4');
  const later = updateProgress({ ...facts, reports: all });
  assert.ok(later !== undefined);
  assert.match(progressText(later), /^missing: the stream managers, which have not all registered/);
});

test('it is not in force before its new spouts begin', () => {
  const physicalPlan = aPhysicalPlan(topology, settledPacking(stored));
  const phaseWith = (joiningEpoch: number | undefined) => {
    const instances = physicalPlan.instances.map((instance) => ({
      ...instance,
      ...(joiningEpoch !== undefined && { joiningEpoch: epoch(joiningEpoch) }),
    }));
    const facts = { packingPlan: settledPacking(stored), reports: all };
    return updateProgress({ ...facts, physicalPlan: { ...physicalPlan, instances } })?.phase;
  };
  assert.equal(phaseWith(3), 'starting');
  assert.equal(phaseWith(undefined), undefined);
});

test('when it is in force the tasks that go work off their input', () => {
  const physicalPlan = aPhysicalPlan(topology, stored);
  const progress = updateProgress({ packingPlan: stored, physicalPlan, reports: all });
  assert.ok(progress !== undefined);
  assert.deepEqual([progress.phase, progress.changes], ['retiring', []]);
  assert.match(progressText(progress), /working off what is in hand: container_1_a_2$/);
});

test('when they have retired their processes end; then no update is under way', () => {
  const physicalPlan = aPhysicalPlan(topology, settledPacking(stored));
  const facts = { physicalPlan, reports: all };
  const progress = updateProgress({ ...facts, packingPlan: stored });
  assert.equal(progress?.phase, 'settling');
  assert.equal(updateProgress({ ...facts, packingPlan: settledPacking(stored) }), undefined);
  assert.equal(
    updateProgress({ packingPlan: packed, physicalPlan: before, reports: [] }),
    undefined,
  );
});

test('what a plan has no place for is left over, until its executor has ended, too', () => {
  const target = settledPacking(stored);
  assert.deepEqual(leftOver(target, all), ['container_1_a_2']);
  assert.deepEqual(leftOver(stored, all), []);
  const [report] = all;
  assert.ok(report !== undefined);
  assert.deepEqual(leftOver(target, [{ ...report, containerId: containerId(0) }]), []);
  const gone = { ...report, containerId: containerId(2), processes: [] };
  assert.deepEqual(leftOver(target, [gone]), ['executor-2']);
});

test('a task in another container is another one', () => {
  assert.ok(isInForce(packed, before));
  const moved = {
    ...packed,
    containers: packed.containers.map((one) => ({ ...one, id: containerId(2) })),
  };
  assert.ok(!isInForce(moved, before));
  assert.ok(!isSamePlacing(moved, packed));
  assert.ok(isSamePlacing(packed, { ...packed, epoch: epoch(9) }));
});
