import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, ONE_CONTAINER, THREE_CONTAINERS } from '../support/cluster.ts';

/*
  Heron's functional tests of groupings and plumbing: the names are Heron's, and so is what has to
  come out. Direct and custom grouping and named streams are our own additions.
*/

interface Row {
  readonly name: string;
  /** The components of fixtures/topologies/groupings.ts whose output is compared. */
  readonly components: readonly string[];
  readonly expected: readonly unknown[];
}

function times(count: number, ...values: readonly unknown[]): readonly unknown[] {
  return Array.from({ length: count }, () => values).flat();
}

const NUMBERED = ['A_0', 'B_1', 'A_2', 'B_3', 'A_4', 'B_5', 'A_6', 'B_7', 'A_8', 'B_9'];

const ROWS: readonly Row[] = [
  { name: 'AllGrouping', components: ['all'], expected: times(10, 'A', 'B') },
  { name: 'BasicTopologyOneTask', components: ['basic'], expected: NUMBERED },
  { name: 'BoltDoubleEmitTuples', components: ['double'], expected: times(10, 'A', 'B') },
  { name: 'FieldsGrouping', components: ['sum'], expected: [2] },
  { name: 'GlobalGrouping', components: ['global'], expected: [0, 0, 2] },
  { name: 'NoneGrouping', components: ['none'], expected: times(5, 'A', 'B') },
  { name: 'ShuffleGrouping (local)', components: ['local'], expected: times(5, 'A', 'B') },
  {
    name: 'DirectGrouping',
    components: ['dealt'],
    expected: ['A@0', 'B@1', 'A@2', 'B@0', 'A@1', 'B@2', 'A@0', 'B@1', 'A@2', 'B@0'],
  },
  { name: 'CustomGrouping', components: ['custom'], expected: times(5, 'A@0', 'A@2', 'B@1') },
  { name: 'NamedStreams', components: ['sorted'], expected: times(5, 'A by a', 'B by b') },
  { name: 'OneBoltMultiTasks', components: ['shuffle'], expected: times(5, 'A', 'B') },
  { name: 'OneSpoutMultiTasks', components: ['three-to-one'], expected: times(15, 'A', 'B') },
  { name: 'OneSpoutBoltMultiTasks', components: ['three-to-three'], expected: times(15, 'A', 'B') },
  { name: 'OneSpoutTwoBolts', components: ['first', 'second'], expected: times(10, 'A', 'B') },
  { name: 'MultiSpoutsMultiTasks', components: ['six-to-one'], expected: times(30, 'A', 'B') },
  { name: 'SerializationTopology', components: ['increment'], expected: [10] },
];

const LAYOUTS = [
  { layout: 'in one container', config: ONE_CONTAINER, hosts: ['127.0.0.1'] },
  {
    layout: 'over three containers on three addresses (R17)',
    config: THREE_CONTAINERS,
    hosts: ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  },
];

for (const { layout, config, hosts } of LAYOUTS) {
  test(`groupings ${layout} give exact results`, async (t) => {
    const cluster = await aCluster(t);
    const run = cluster.run('groupings', 'groupings', { config });
    const plan = await cluster.physicalPlan('groupings');
    assert.deepEqual(plan.streamManagers.map(({ host }) => host).toSorted(), hosts);
    const result = await run;
    const values = result as Readonly<Record<string, readonly unknown[]>>;
    for (const { name, components, expected } of ROWS) {
      await t.test(`${name} ${layout}`, () => {
        const got = components.flatMap((component) => values[component] ?? []);
        assert.deepEqual(got.map(String).toSorted(), expected.map(String).toSorted());
      });
    }
  });
}
