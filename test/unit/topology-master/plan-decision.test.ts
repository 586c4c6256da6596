import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  componentName,
  epoch,
  type StreamManagerId,
  streamManagerId,
  type TaskId,
  taskId,
} from '../../../src/base/ids.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../../../src/model/physical-plan.ts';
import { settledPacking } from '../../../src/model/settled-packing.ts';
import {
  decidePlan,
  type PlanDecision,
  type PlanFacts,
} from '../../../src/topology-master/plan-decision.ts';
import { type Addresses, expectedInstances } from '../../../src/topology-master/placement.ts';
import type { Registration } from '../../../src/topology-master/registration-decision.ts';
import { aPackingPlan, anAddress, anInstance, aPlacement } from '../../support/placements.ts';

const PACKING = aPackingPlan([1, 1]);
const INSTANCES: readonly InstanceAddress[] = [anInstance(1, 1), anInstance(2, 2)];
const [FIRST, SECOND] = [anAddress(1), anAddress(2)];
const CURRENT = { epoch: epoch(5), streamManagers: [FIRST, SECOND], instances: INSTANCES };
const ADDRESSES: Addresses = { streamManagers: [FIRST, SECOND], instances: INSTANCES };
const MOVED = anAddress(2, { dataPort: 9, pid: 9 });

type Registered = ReadonlyMap<StreamManagerId, Registration>;

function registered(...addresses: readonly StreamManagerAddress[]): Registered {
  return serving(PACKING, ...addresses);
}

/** These stream managers, each with what the packing plan gives it. */
function serving(packing: PackingPlan, ...addresses: readonly StreamManagerAddress[]): Registered {
  const planned = expectedInstances(packing);
  return new Map(
    addresses.map((address) => [
      address.id,
      { address, instances: planned.filter(({ streamManager }) => streamManager === address.id) },
    ]),
  );
}

function decide(facts: Partial<PlanFacts>): PlanDecision {
  return decidePlan({
    packing: PACKING,
    registered: new Map(),
    current: undefined,
    retired: new Set(),
    isDrainOver: false,
    planEpochs: new Map(),
    isAdoptionOver: false,
    hasEnded: () => false,
    hasEndedBefore: () => false,
    isSpout: () => false,
    isOver: () => false,
    ...facts,
  });
}

const store = (addresses: Addresses, cutShort: readonly InstanceAddress[] = []): PlanDecision => ({
  kind: 'store',
  addresses,
  isAdoption: false,
  cutShort,
});
const adopt = (addresses: Addresses): PlanDecision => ({
  kind: 'store',
  addresses,
  isAdoption: true,
  cutShort: [],
});
const SETTLED: PlanDecision = { kind: 'keep', phase: 'settled', missing: [], ended: [] };

suite('without an update', () => {
  test('the first plan waits for all', () => {
    const decideWith = (...addresses: StreamManagerAddress[]) =>
      decide({ registered: registered(...addresses) });
    assert.deepEqual(decideWith(), { kind: 'wait', missing: ['stmgr-1', 'stmgr-2'] });
    assert.deepEqual(decideWith(SECOND), { kind: 'wait', missing: ['stmgr-1'] });
    assert.deepEqual(decideWith(SECOND, FIRST), store(ADDRESSES));
  });

  test('a plan that is there is kept while nothing has changed', () => {
    for (const present of [[], [FIRST], [SECOND], [SECOND, FIRST]]) {
      const facts = { registered: registered(...present), current: CURRENT };
      assert.deepEqual(decide(facts), SETTLED);
    }
  });

  test('a changed address makes a plan; whoever is away keeps the last one', () => {
    const addresses = { streamManagers: [FIRST, MOVED], instances: INSTANCES };
    for (const present of [[MOVED], [FIRST, MOVED]]) {
      const facts = { registered: registered(...present), current: CURRENT };
      assert.deepEqual(decide(facts), store(addresses));
    }
  });

  test('the order of instances in a stored plan is kept', () => {
    const current = { ...CURRENT, instances: INSTANCES.toReversed() };
    const decision = decide({ registered: registered(MOVED), current });
    assert.ok(decision.kind === 'store');
    assert.deepEqual(decision.addresses.instances, current.instances);
  });

  test('a plan of another packing is replaced when all are there, and kept until then', () => {
    const others = [
      { ...CURRENT, instances: [anInstance(1, 1), anInstance(1, 2)] },
      { ...CURRENT, streamManagers: [FIRST] },
      { ...CURRENT, streamManagers: [FIRST, SECOND, anAddress(3)] },
    ];
    for (const current of others) {
      const missing = [streamManagerId('stmgr-2')];
      assert.deepEqual(decide({ current, registered: registered(FIRST) }), {
        kind: 'keep',
        phase: 'changing',
        missing,
        ended: [],
      });
      const all = decide({ current, registered: registered(FIRST, SECOND) });
      assert.deepEqual(all, adopt(ADDRESSES));
    }
  });

  test('the tenth container comes after the ninth', () => {
    const packing = aPackingPlan(Array.from({ length: 10 }, () => 1));
    const addresses = Array.from({ length: 10 }, (_, index) => anAddress(10 - index));
    const decision = decide({ packing, registered: serving(packing, ...addresses) });
    assert.ok(decision.kind === 'store');
    assert.deepEqual(decision.addresses.streamManagers, addresses.toReversed());
  });
});

/*
  Updates, from tasks 1 and 2 in containers 1 and 2. The union holds what will be and what goes;
  `-` marks what goes.
*/

interface Update {
  readonly name: string;
  readonly union: PackingPlan;
  /** Tasks of the plan in force after it, by container. */
  readonly after: Readonly<Record<number, readonly string[]>>;
  readonly retiring: readonly number[];
}

const UPDATES: readonly Update[] = [
  {
    name: 'up only',
    union: aPlacement({ 1: ['1', '3'], 2: ['2'] }),
    after: { 1: ['1', '3'], 2: ['2'] },
    retiring: [],
  },
  {
    name: 'up into a new container',
    union: aPlacement({ 1: ['1'], 2: ['2'], 3: ['3'] }),
    after: { 1: ['1'], 2: ['2'], 3: ['3'] },
    retiring: [],
  },
  {
    name: 'down with a container',
    union: aPlacement({ 1: ['1'], 2: ['2-'] }),
    after: { 1: ['1'] },
    retiring: [2],
  },
  {
    name: 'down in a container that stays',
    union: aPlacement({ 1: ['1', '3-'], 2: ['2'] }),
    after: { 1: ['1'], 2: ['2'] },
    retiring: [3],
  },
  {
    name: 'a move',
    union: aPlacement({ 1: ['1', '3'], 2: ['2-'] }),
    after: { 1: ['1', '3'] },
    retiring: [2],
  },
  {
    name: 'a move into a new container, and back',
    union: aPlacement({ 1: ['1-'], 2: ['2', '4'], 3: ['3'] }),
    after: { 2: ['2', '4'], 3: ['3'] },
    retiring: [1],
  },
];

const containersOf = ({ containers }: PackingPlan) => containers.map(({ id }) => anAddress(id));

/** What is in force before the update: everything of it that is not new. */
function inForceBefore({ union, retiring }: Update): Addresses & { epoch: typeof CURRENT.epoch } {
  const old = new Set([1, 2, ...retiring]);
  const instances = expectedInstances(union).flatMap((instance) => {
    const { isRetiring, ...unmarked } = instance;
    if (!old.has(instance.task)) return [];
    return [isRetiring === true ? unmarked : instance];
  });
  const busy = new Set(instances.map(({ streamManager }) => streamManager));
  const streamManagers = containersOf(union).filter(({ id }) => busy.has(id));
  return { epoch: epoch(5), streamManagers, instances };
}

function planOf(packing: PackingPlan, number: number) {
  const instances = expectedInstances(packing);
  return { epoch: epoch(number), streamManagers: containersOf(packing), instances };
}

const withoutEpoch = ({ streamManagers, instances }: Addresses): Addresses => ({
  streamManagers,
  instances,
});

for (const update of UPDATES) {
  suite(`update: ${update.name}`, () => {
    const { union, retiring } = update;
    const before = inForceBefore(update);
    const everybody = serving(union, ...containersOf(union));
    const merged = planOf(union, 7);
    const retired = new Set(retiring.map(taskId));
    const after = planOf(aPlacement(update.after), 9);
    const [away] = everybody.keys();

    test('the plan in force stays until all serve what is to come', () => {
      assert.ok(away !== undefined);
      const all = [...everybody];
      const lacking = new Map(all.filter(([id]) => id !== away));
      assert.deepEqual(decide({ packing: union, current: before, registered: lacking }), {
        kind: 'keep',
        phase: 'changing',
        missing: [away],
        ended: [],
      });
      const stale = new Map([...everybody, ...serving(aPlacement({ 1: ['9'] }), anAddress(1))]);
      assert.deepEqual(decide({ packing: union, current: before, registered: stale }), {
        kind: 'keep',
        phase: 'changing',
        missing: ['stmgr-1'],
        ended: [],
      });
    });

    test('addresses are refreshed meanwhile', () => {
      const [known] = before.streamManagers;
      assert.ok(known !== undefined);
      const fresh = { ...known, pid: 9 };
      const streamManagers = before.streamManagers.with(0, fresh);
      const present = serving(aPlacement({ 1: ['9'] }), fresh);
      assert.deepEqual(
        decide({ packing: union, current: before, registered: present }),
        store({ streamManagers, instances: before.instances }),
      );
    });

    test('when all are there, what comes and what goes is in one plan', () => {
      assert.deepEqual(
        decide({ packing: union, current: before, registered: everybody }),
        adopt(withoutEpoch(merged)),
      );
    });

    test('no task begins when the input of its component has ended', () => {
      const facts = { packing: union, current: before, registered: everybody };
      const decision = decide({ ...facts, hasEnded: () => true });
      const begins = merged.instances.length > before.instances.length;
      const component = componentName('word');
      const held = { kind: 'keep', phase: 'changing', missing: [], ended: [component] } as const;
      assert.deepEqual(decision, begins ? held : adopt(withoutEpoch(merged)));
    });

    test('a packing plan that is replaced before all are there leaves no trace', () => {
      const again = aPlacement({ 1: ['1', '8'], 2: ['2'] });
      const facts = { packing: again, current: CURRENT };
      const stale = decide({ ...facts, registered: everybody });
      assert.ok(stale.kind === 'keep' && stale.phase === 'changing');
      const registrations = serving(again, FIRST, SECOND);
      assert.deepEqual(
        decide({ ...facts, registered: registrations }),
        adopt(withoutEpoch(planOf(again, 7))),
      );
    });

    test('one that is taken back before all are there leaves the plan in force', () => {
      const registrations = serving(PACKING, FIRST, SECOND);
      const facts = { packing: PACKING, current: CURRENT, registered: registrations };
      assert.deepEqual(decide(facts), SETTLED);
    });

    if (retiring.length === 0) return;

    test('retiring tasks stay until all have retired', () => {
      const facts = { packing: union, current: merged, registered: everybody };
      const phase = 'retiring';
      assert.deepEqual(decide(facts), { kind: 'keep', phase, missing: [], ended: [] });
      assert.deepEqual(decide({ ...facts, retired }), store(withoutEpoch(after)));
    });

    test('a master that was started again goes on from the two plans alone', () => {
      const facts = { packing: union, registered: new Map() };
      const phaseWith = (current: PlanFacts['current']) => {
        const decision = decide({ ...facts, current });
        return decision.kind === 'keep' ? decision.phase : decision.kind;
      };
      assert.equal(phaseWith(merged), 'retiring');
      assert.equal(phaseWith(after), 'settle');
      assert.equal(phaseWith(before), 'changing');
    });

    test('when their time is over they are taken away as they are', () => {
      const facts = { packing: union, current: merged, registered: everybody, isDrainOver: true };
      const cutShort = merged.instances.filter(({ task }) => retired.has(task));
      assert.deepEqual(decide(facts), store(withoutEpoch(after), cutShort));
    });

    test('an address is refreshed while they retire, and in the plan without them', () => {
      const fresh = new Map(everybody);
      const [known] = after.streamManagers;
      assert.ok(known !== undefined);
      const moved = { ...known, pid: 9 };
      const { instances } = fresh.get(known.id) ?? assert.fail();
      fresh.set(known.id, { address: moved, instances });
      const refreshed = ({ streamManagers, instances: all }: Addresses) =>
        store({
          streamManagers: streamManagers.map((each) => (each.id === known.id ? moved : each)),
          instances: all,
        });
      const facts = { packing: union, current: merged, registered: fresh };
      assert.deepEqual(decide(facts), refreshed(merged));
      assert.deepEqual(decide({ ...facts, retired }), refreshed(after));
    });

    test('they retire first, whatever the packing plan says by then', () => {
      for (const packing of [settledPacking(union), aPlacement({ 1: ['9'] })]) {
        const facts = { packing, current: merged, registered: serving(packing, FIRST) };
        assert.equal(decide(facts).kind, 'keep');
        assert.deepEqual(decide({ ...facts, retired }), store(withoutEpoch(after)));
      }
    });

    test('the packing plan gets marks that somebody has overlooked, before anything else', () => {
      const containers = union.containers.map((container) => ({
        ...container,
        instances: container.instances.map((instance) => ({ ...instance, isRetiring: false })),
      }));
      const packing = { ...union, containers };
      for (const known of [new Set<TaskId>(), retired]) {
        const facts = { packing, current: merged, registered: everybody, retired: known };
        assert.deepEqual(decide(facts), { kind: 'mark', tasks: retired });
      }
    });

    test('the packing plan settles when all who are there work by the plan without them', () => {
      const facts = { packing: union, current: after, registered: everybody };
      const waiting: PlanDecision = { kind: 'keep', phase: 'settling', missing: [], ended: [] };
      const told = new Map(after.streamManagers.map(({ id }) => [id, epoch(9)]));
      assert.deepEqual(decide(facts), waiting);
      assert.deepEqual(decide({ ...facts, planEpochs: told }), { kind: 'settle' });
      const [last] = [...told.keys()].toReversed();
      assert.ok(last !== undefined);
      const behind = new Map([...told, [last, epoch(7)]]);
      assert.deepEqual(decide({ ...facts, planEpochs: behind }), waiting);
      const gone = new Map([...everybody].filter(([id]) => id !== last));
      assert.deepEqual(decide({ ...facts, planEpochs: behind, registered: gone }), {
        kind: 'settle',
      });
      assert.deepEqual(decide({ ...facts, isAdoptionOver: true }), { kind: 'settle' });
    });

    test('an address is refreshed before the packing plan settles', () => {
      const [known, ...others] = after.streamManagers;
      assert.ok(known !== undefined);
      const moved = { ...known, pid: 9 };
      const { instances } = everybody.get(known.id) ?? assert.fail();
      const fresh = new Map([...everybody, [known.id, { address: moved, instances }]]);
      const facts = { packing: union, current: after, registered: fresh, isAdoptionOver: true };
      const streamManagers = [moved, ...others];
      assert.deepEqual(decide(facts), store({ streamManagers, instances: after.instances }));
    });

    test('when the packing plan has settled everything is as before an update', () => {
      const packing = settledPacking(union);
      const present = serving(packing, ...after.streamManagers);
      assert.deepEqual(decide({ packing, current: after, registered: present }), SETTLED);
    });

    test('with a plan that is lost, the retiring tasks are in the next one again', () => {
      assert.deepEqual(
        decide({ packing: union, registered: everybody }),
        store(withoutEpoch(merged)),
      );
    });
  });
}
