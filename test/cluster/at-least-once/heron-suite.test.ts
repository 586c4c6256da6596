import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  aCluster,
  type Cluster,
  ONE_CONTAINER,
  THREE_CONTAINERS,
  UNHURRIED,
} from '../../support/cluster.ts';
import type { SpoutCounts } from './fixtures/topologies/heron-harness.ts';

/*
  Heron's functional integration tests in its own frame, at least once: the names are Heron's, and
  so is what has to come out. The result is written when every tree has been settled, so it also
  says that each of them was.
*/

interface Row {
  readonly name: string;
  /** The components of fixtures/topologies/heron-suite.ts whose output is compared. */
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
  { name: 'NonGrouping', components: ['none'], expected: times(5, 'A', 'B') },
  { name: 'OneBoltMultiTasks', components: ['shuffle'], expected: times(5, 'A', 'B') },
  { name: 'OneSpoutMultiTasks', components: ['three-to-one'], expected: times(15, 'A', 'B') },
  { name: 'OneSpoutBoltMultiTasks', components: ['three-to-three'], expected: times(15, 'A', 'B') },
  { name: 'OneSpoutTwoBolts', components: ['first', 'second'], expected: times(10, 'A', 'B') },
  { name: 'MultiSpoutsMultiTasks', components: ['six-to-one'], expected: times(30, 'A', 'B') },
  { name: 'ShuffleGrouping', components: ['local'], expected: times(5, 'A', 'B') },
  { name: 'SerializationTopology', components: ['increment'], expected: [10] },
];

/** Tuples that each task of a spout emits. */
const EXECUTIONS: Readonly<Record<string, number>> = { 'ab-many': 400 };
const TASKS: Readonly<Record<string, number>> = {
  ab: 1,
  'ab-three': 3,
  'ab-other-three': 3,
  'ab-numbered': 1,
  'ab-many': 1,
  customs: 1,
};

const LAYOUTS = [
  { layout: 'in one container', config: { ...ONE_CONTAINER, ...UNHURRIED }, hosts: ['127.0.0.1'] },
  {
    layout: 'over three containers on three addresses',
    config: { ...THREE_CONTAINERS, ...UNHURRIED },
    hosts: ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  },
];

function fixture(name: string): string {
  return join(import.meta.dirname, 'fixtures/topologies', `${name}.ts`);
}

async function spoutCounts(cluster: Cluster, name: string): Promise<readonly SpoutCounts[]> {
  const text = await readFile(`${cluster.resultFile(name)}.spouts`, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SpoutCounts);
}

function assertAllAcked(counts: readonly SpoutCounts[]): void {
  const expected = Object.entries(TASKS).flatMap(([component, tasks]) =>
    Array.from({ length: tasks }, (_, task) => {
      const emitted = EXECUTIONS[component] ?? 10;
      return { component, task, emitted, acked: emitted, failed: 0 };
    }),
  );
  const place = ({ component, task }: SpoutCounts): string => `${component} ${task}`;
  const sorted = (list: readonly SpoutCounts[]) =>
    list.toSorted((left, right) => (place(left) < place(right) ? -1 : 1));
  assert.deepEqual(sorted(counts), sorted(expected));
}

for (const { layout, config, hosts } of LAYOUTS) {
  test(`Heron's suite, at least once, ${layout}`, async (t) => {
    const cluster = await aCluster(t);
    const run = cluster.run(fixture('heron-suite'), 'heron-suite', { config });
    const [result, plan] = await Promise.all([run, cluster.physicalPlan('heron-suite')]);
    assert.deepEqual(plan.streamManagers.map(({ host }) => host).toSorted(), hosts);
    const values = result as Readonly<Record<string, readonly unknown[]>>;
    for (const { name, components, expected } of ROWS) {
      await t.test(`${name} ${layout}`, () => {
        const got = components.flatMap((component) => values[component] ?? []);
        assert.deepEqual(got.map(String).toSorted(), expected.map(String).toSorted());
      });
    }
    await t.test(`every tuple of every spout is acked once ${layout}`, async () => {
      assertAllAcked(await spoutCounts(cluster, 'heron-suite'));
    });
  });
}

test('KryoSerializationTopology: objects that only an own serializer can carry', async (t) => {
  const cluster = await aCluster(t);
  const result = await cluster.run(fixture('own-serializer'), 'own-serializer', {
    config: { ...ONE_CONTAINER, ...UNHURRIED },
  });
  assert.deepEqual(result, { increment: [10] });
  const [counts, ...others] = await spoutCounts(cluster, 'own-serializer');
  assert.deepEqual(others, []);
  assert.deepEqual([counts?.emitted, counts?.acked, counts?.failed], [10, 10, 0]);
});
