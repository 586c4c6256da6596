import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../../../../src/simulation/faults/fault.ts';
import {
  placeOf,
  resolveTarget,
  resolveTargets,
} from '../../../../src/simulation/faults/targets.ts';

const NAMES = [
  'container_2_count_10',
  'container_2_count_9',
  'container_1_words_1',
  'stmgr-2',
  'stmgr-1',
  'stmgr-10',
  'executor-0',
  'executor-1',
  'heron-tmanager',
  'metricsmgr-0',
  'scheduler',
  'a command',
];

const CASES: readonly [target: Target, names: readonly string[]][] = [
  ['scheduler#0', ['scheduler']],
  ['stream-manager#0', ['stmgr-1']],
  ['stream-manager#2', ['stmgr-10']],
  ['stream-manager#3', ['stmgr-1']],
  ['instance#1', ['container_2_count_9']],
  ['instance#2', ['container_2_count_10']],
  ['topology-master#5', ['heron-tmanager']],
  ['container#0', ['executor-0', 'heron-tmanager', 'metricsmgr-0']],
  ['container#1', ['container_1_words_1', 'executor-1', 'stmgr-1']],
  ['container#7', []],
];

for (const [target, names] of CASES) {
  test(`${target} means ${names.join(', ') || 'nobody'}`, () => {
    assert.deepEqual(resolveTarget(target, NAMES), names);
  });
}

test('a process that two targets mean is meant once', () => {
  const targets: readonly Target[] = ['stream-manager#0', 'container#1', 'stream-manager#3'];
  assert.deepEqual(resolveTargets(targets, NAMES), [
    'stmgr-1',
    'container_1_words_1',
    'executor-1',
  ]);
});

test('a role that nobody has means nobody', () => {
  assert.deepEqual(resolveTarget('metrics-manager#0', ['stmgr-1']), []);
});

test('what is no process of a topology has no place', () => {
  assert.equal(placeOf('a command'), undefined);
});

test('a name tells the container', () => {
  assert.deepEqual(placeOf('container_12_my_bolt_3'), { role: 'instance', container: 12 });
  assert.deepEqual(placeOf('scheduler'), { role: 'scheduler', container: undefined });
});
