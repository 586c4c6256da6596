import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamManagerId } from '../../../src/base/ids.ts';
import type { InstanceAddress, StreamManagerAddress } from '../../../src/model/physical-plan.ts';
import { decidePlan } from '../../../src/topology-master/plan-decision.ts';
import type { Registration } from '../../../src/topology-master/registration-decision.ts';
import { aPackingPlan, anAddress, anInstance } from '../../support/placements.ts';

const PACKING = aPackingPlan([1, 1]);
const INSTANCES: readonly InstanceAddress[] = [anInstance(1, 1), anInstance(2, 2)];
const [FIRST, SECOND] = [anAddress(1), anAddress(2)];
const CURRENT = { streamManagers: [FIRST, SECOND], instances: INSTANCES };
const MOVED = anAddress(2, { dataPort: 9, pid: 9 });

function registered(
  ...addresses: readonly StreamManagerAddress[]
): ReadonlyMap<StreamManagerId, Registration> {
  return new Map(
    addresses.map((address) => [
      address.id,
      { address, instances: INSTANCES.filter((each) => each.streamManager === address.id) },
    ]),
  );
}

test('the first plan waits for all', () => {
  const decide = (...addresses: StreamManagerAddress[]) =>
    decidePlan({ packing: PACKING, registered: registered(...addresses), current: undefined });
  assert.deepEqual(decide(), { kind: 'wait', missing: ['stmgr-1', 'stmgr-2'] });
  assert.deepEqual(decide(SECOND), { kind: 'wait', missing: ['stmgr-1'] });
  assert.deepEqual(decide(SECOND, FIRST), { kind: 'store', addresses: CURRENT });
});

test('a plan that is there is kept while nothing has changed', () => {
  for (const present of [[], [FIRST], [SECOND], [SECOND, FIRST]]) {
    const facts = { packing: PACKING, registered: registered(...present), current: CURRENT };
    assert.deepEqual(decidePlan(facts), { kind: 'keep' });
  }
});

test('a changed address makes a plan; whoever is away keeps the last one', () => {
  const addresses = { streamManagers: [FIRST, MOVED], instances: INSTANCES };
  for (const present of [[MOVED], [FIRST, MOVED]]) {
    const facts = { packing: PACKING, registered: registered(...present), current: CURRENT };
    assert.deepEqual(decidePlan(facts), { kind: 'store', addresses });
  }
});

test('the order of instances in a stored plan is kept', () => {
  const current = { ...CURRENT, instances: INSTANCES.toReversed() };
  const decision = decidePlan({ packing: PACKING, registered: registered(MOVED), current });
  assert.ok(decision.kind === 'store');
  assert.deepEqual(decision.addresses.instances, current.instances);
});

test('a plan of another packing is replaced when all are there', () => {
  const others = [
    { ...CURRENT, instances: [anInstance(1, 1), anInstance(1, 2)] },
    { ...CURRENT, streamManagers: [FIRST] },
    { ...CURRENT, streamManagers: [FIRST, SECOND, anAddress(3)] },
  ];
  for (const current of others) {
    const facts = { packing: PACKING, current };
    assert.deepEqual(decidePlan({ ...facts, registered: registered(FIRST) }), {
      kind: 'wait',
      missing: ['stmgr-2'],
    });
    assert.deepEqual(decidePlan({ ...facts, registered: registered(FIRST, SECOND) }), {
      kind: 'store',
      addresses: CURRENT,
    });
  }
});

test('the tenth container comes after the ninth', () => {
  const packing = aPackingPlan(Array.from({ length: 10 }, () => 1));
  const addresses = Array.from({ length: 10 }, (_, index) => anAddress(10 - index));
  const decision = decidePlan({
    packing,
    registered: registered(...addresses),
    current: undefined,
  });
  assert.ok(decision.kind === 'store');
  assert.deepEqual(decision.addresses.streamManagers, addresses.toReversed());
});
