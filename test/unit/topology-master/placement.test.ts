import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import {
  byContainer,
  expectedInstances,
  expectedInstancesOf,
  expectedStreamManagers,
  isSameAddress,
  isSamePlacement,
  isSameProcess,
} from '../../../src/topology-master/placement.ts';
import { aPackingPlan, anAddress, anInstance } from '../../support/placements.ts';

test('a packing plan says which stream managers and instances there are', () => {
  const packing = aPackingPlan([2, 1]);
  assert.deepEqual(expectedStreamManagers(packing), ['stmgr-1', 'stmgr-2']);
  assert.deepEqual(expectedInstances(packing), [
    anInstance(1, 1),
    anInstance(1, 2),
    anInstance(2, 3),
  ]);
});

test('each stream manager has its own instances; a container may have none', () => {
  const packing = aPackingPlan([2, 1, 0]);
  assert.deepEqual(expectedInstancesOf(packing, anAddress(1).id), [
    anInstance(1, 1),
    anInstance(1, 2),
  ]);
  assert.deepEqual(expectedInstancesOf(packing, anAddress(3).id), []);
  assert.equal(expectedInstancesOf(packing, anAddress(4).id), undefined);
});

test('a changed packing plan is asked anew', () => {
  const packing = aPackingPlan([1]);
  assert.deepEqual(expectedStreamManagers(packing), ['stmgr-1']);
  const grown = { ...packing, containers: aPackingPlan([1, 1]).containers };
  assert.deepEqual(expectedStreamManagers(grown), ['stmgr-1', 'stmgr-2']);
});

test('the order of containers in the plan does not matter', () => {
  const packing = aPackingPlan([1, 1]);
  const reversed = { ...packing, containers: packing.containers.toReversed() };
  assert.deepEqual(expectedStreamManagers(reversed), ['stmgr-1', 'stmgr-2']);
  assert.deepEqual(expectedInstances(reversed), expectedInstances(packing));
});

test('placements are compared as sets', () => {
  const [first, second] = [anInstance(1, 1), anInstance(1, 2)];
  assert.ok(isSamePlacement([first, second], [second, first]));
  assert.ok(isSamePlacement([], []));
  assert.ok(!isSamePlacement([first], [first, second]));
  assert.ok(!isSamePlacement([first, second], [first, first]));
  assert.ok(!isSamePlacement([first, first], [first, second]));
  assert.ok(!isSamePlacement([first], [{ ...first, componentIndex: 7 }]));
  assert.ok(!isSamePlacement([first], [{ ...first, streamManager: anAddress(2).id }]));
});

test('every field of an address counts; a process is its host, data port and pid', () => {
  const address = anAddress(1);
  assert.ok(isSameAddress(address, { ...address }));
  const others = [{ host: '127.0.0.2' }, { dataPort: 1 }, { pid: 1 }];
  for (const change of others) {
    assert.ok(!isSameAddress(address, { ...address, ...change }));
    assert.ok(!isSameProcess(address, { ...address, ...change }));
  }
  for (const change of [{ localDataPort: 1 }, { workingDirectory: '/' }, { shellPort: 1 }]) {
    assert.ok(!isSameAddress(address, { ...address, ...change }));
    assert.ok(isSameProcess(address, { ...address, ...change }));
  }
});

test('containers are sorted by number', () => {
  const sorted = [anAddress(10), anAddress(9), anAddress(1)].toSorted(byContainer);
  assert.deepEqual(
    sorted.map(({ id }) => id),
    ['stmgr-1', 'stmgr-9', 'stmgr-10'],
  );
  assert.equal(sorted[0]?.id, anAddress(containerId(1)).id);
});
