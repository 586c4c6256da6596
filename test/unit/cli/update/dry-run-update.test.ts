import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dryRunUpdateJson, dryRunUpdateText } from '../../../../src/cli/update/dry-run-update.ts';
import { packingPlanOf } from '../../../support/packing-plans.ts';
import { aTopology } from '../../../support/topologies.ts';

const SHOWN = {
  topology: aTopology(),
  place: { cluster: 'local', role: 'tester', environ: 'dev' },
  base: packingPlanOf({ 1: ['count:1', 'split:2'], 2: ['count:3'] }),
  /** Task 1 has gone, so 3 has another index. */
  target: packingPlanOf({ 1: ['split:2'], 2: ['count:3'], 3: ['split:4'] }),
  warnings: [],
};

test('what stays with another index is marked, and so is its container', () => {
  const gib = 1024 ** 3;
  const amount = `cpu 1 ram ${gib} disk ${gib}`;
  const plain = { style: (_style: unknown, text: string): string => text };
  assert.deepEqual(dryRunUpdateText(SHOWN, 'raw', plain).split('\n'), [
    '  plan plan',
    `~ container 1 ${amount}`,
    `- task 1 count 0 ${amount}`,
    `  task 2 split 0 ${amount}`,
    `~ container 2 ${amount}`,
    `~ task 3 count 0 ${amount}`,
    `+ container 3 ${amount}`,
    `+ task 4 split 1 ${amount}`,
  ]);
  const { containers, changes } = dryRunUpdateJson(SHOWN);
  assert.deepEqual(
    containers.map(({ id, change }) => [id, change]),
    [
      [1, 'changed'],
      [2, 'changed'],
      [3, 'added'],
    ],
  );
  assert.deepEqual(changes, [
    { component: 'count', from: 2, to: 1 },
    { component: 'split', from: 1, to: 2 },
    { component: null, from: 2, to: 3 },
  ]);
});
