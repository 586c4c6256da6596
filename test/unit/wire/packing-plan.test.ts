import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { componentName, containerId, epoch, taskId } from '../../../src/base/ids.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { goldenFolder } from '../../support/golden.ts';

const resource = { cpuCores: 1.5, ramBytes: 2 ** 33, diskBytes: 0 };

const plan: PackingPlan = {
  id: 'words-4f2a',
  containers: [
    {
      id: containerId(1),
      instances: [
        { component: componentName('count'), task: taskId(3), componentIndex: 0, resource },
        { component: componentName('count'), task: taskId(4), componentIndex: 1, resource },
      ],
      required: resource,
      scheduled: { ...resource, cpuCores: 4 },
    },
    { id: containerId(7), instances: [], required: resource },
  ],
};

suite('packing plans', () => {
  test('come back as they were', () => {
    assert.deepEqual(decodePackingPlan(encodePackingPlan(plan)), plan);
  });

  test('in the middle of an update come back as they were', () => {
    const updating: PackingPlan = {
      ...plan,
      containers: plan.containers.map((container) => ({
        ...container,
        instances: container.instances.map((instance) => ({ ...instance, isRetiring: true })),
      })),
      epoch: epoch(2 ** 40),
      lastTask: taskId(9),
      updatedAtMs: 1_700_000_000_123,
      adoptedEpoch: epoch(7),
    };
    assert.deepEqual(decodePackingPlan(encodePackingPlan(updating)), updating);
  });

  test('of Heron are read and written to the same bytes', () => {
    const stored = goldenFolder('state').filter(({ name }) => name.includes('packingplans'));
    assert.equal(stored.length, 3);
    for (const { name, bytes } of stored) {
      const read = decodePackingPlan(bytes);
      assert.ok(
        read.containers.every(({ instances }) => instances.length > 0),
        name,
      );
      assert.deepEqual(encodePackingPlan(read), Uint8Array.from(bytes), name);
    }
  });

  test('that are corrupted say what is wrong', () => {
    const rows: [Uint8Array, string][] = [
      [Uint8Array.of(0x0a, 5), 'PackingPlan cannot be read'],
      [new Uint8Array(0), 'PackingPlan lacks its required field id'],
      [
        encodePackingPlan({
          ...plan,
          containers: [{ id: containerId(0), instances: [], required: resource }],
        }),
        'holds the container 0',
      ],
    ];
    for (const [bytes, text] of rows) {
      assert.throws(
        () => decodePackingPlan(bytes),
        (error) => hasCode(error, 'STATE_CORRUPTED') && error.message.includes(text),
      );
    }
  });

  test('with more bytes than a number holds exactly are corrupted', () => {
    const bytes = encodePackingPlan({
      ...plan,
      containers: [
        { id: containerId(1), instances: [], required: { ...resource, ramBytes: 2 ** 60 } },
      ],
    });
    assert.throws(
      () => decodePackingPlan(bytes),
      (error) => hasCode(error, 'STATE_CORRUPTED') && error.message.includes('Resource.ram'),
    );
  });
});
