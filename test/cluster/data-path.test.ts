import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  aCluster,
  type Cluster,
  ONE_CONTAINER,
  PATIENTLY,
  THREE_CONTAINERS,
} from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { peakMemoryMb } from '../support/process-table.ts';

/* What users may rely on between emit and execute, wherever the tasks run. */

const LAYOUTS = [
  { layout: 'in one container', config: ONE_CONTAINER },
  { layout: 'over three containers', config: THREE_CONTAINERS },
];

type Results = Readonly<Record<string, readonly unknown[]>>;

const NUMBERS = 20_000;
const AWAITED = 60;
/** 0 + 1 + … + 59 */
const SUM = (AWAITED * (AWAITED - 1)) / 2;

function assertOrder(results: Results): void {
  // Each of two tasks gets all tuples of both sources, or the ends would have overtaken some.
  const all = { sources: 2, count: 2 * NUMBERS, disorder: 0 };
  assert.deepEqual(results['ordered'], [all, all]);
}

function assertStreams(results: Results): void {
  const odd = Array.from({ length: NUMBERS }, (_, n) => Math.floor(n / 7) % 2).filter(Boolean);
  const ofBoth = 2 * odd.length;
  assert.deepEqual(results['streams']?.toSorted(), [
    `task 0: even ${2 * NUMBERS - ofBoth}`,
    `task 0: odd ${ofBoth}`,
    `task 1: odd ${ofBoth}`,
  ]);
}

function assertPromises(results: Results): void {
  const upToTheLast = Array.from({ length: AWAITED + 1 }, (_, n) => n);
  assert.deepEqual(results['async-bolt'], upToTheLast);
}

function assertEnds(results: Results): void {
  // Two tasks: their sums and a 1 from each; then that and a 1; then that and a 1.
  assert.deepEqual(results['third'], [SUM + 3, 1]);
}

function assertMutations(results: Results): void {
  const first = { state: 'as it was', nested: { list: [1, 2, 3] } };
  const second = { state: 'changed', nested: { list: [1, 2, 3, 4] } };
  const byState = (results['mutations'] ?? []).toSorted((a, b) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
  );
  assert.deepEqual(byState, [first, first, first, second, second, second]);
}

function assertValues(results: Results): void {
  assert.deepEqual(results['differences'], ['324 of 324', '324 of 324', '324 of 324']);
}

function assertRefusals(results: Results): void {
  const refusals = [
    'value.self[0]: what contains itself cannot be sent',
    'value.list[1]: a function cannot be sent',
    'value: a symbol cannot be sent',
    'value: half of a surrogate pair cannot be sent',
    'value.when: an object of class Unknown cannot be sent',
  ];
  assert.deepEqual(
    results['values'],
    refusals.map(
      (refusal) => `VALUE_NOT_SERIALIZABLE: ${refusal}, in stream 'default' of 'values'`,
    ),
  );
}

const CLAIMS: Readonly<Record<string, readonly (readonly [string, (results: Results) => void])[]>> =
  {
    order: [
      ['tuples of one task arrive in order over all streams, and none after the end', assertOrder],
      ['each stream goes where its own grouping says', assertStreams],
      ['promises of nextTuple and execute keep the order and hold up the end', assertPromises],
      ['what finish emits travels through three levels of finish', assertEnds],
    ],
    values: [
      ['S21: an object that is changed after emit arrives as it was', assertMutations],
      ['O39: values of every type arrive exactly as they were', assertValues],
      ['O39: a value without an exact form is refused with its place', assertRefusals],
    ],
  };

for (const { layout, config } of LAYOUTS) {
  test(`order and values ${layout}`, async (t) => {
    const cluster = await aCluster(t);
    const [order, values] = await Promise.all([
      cluster.run('order', 'order', { config }),
      cluster.run('values', 'values', { config }),
    ]);
    for (const [topology, result] of Object.entries({ order, values })) {
      for (const [claim, check] of CLAIMS[topology] ?? []) {
        await t.test(`${claim} ${layout}`, () => check(result as Results));
      }
    }
  });
}

const LIMIT_BYTES = 65_536;
/**
 * Of a tuple of one value just below 64 KiB: key 9, MessagePack 3, twice a tag and a length of 4.
 */
const OVERHEAD_BYTES = 20;
const MEBIBYTE = 1024 * 1024;

test('O07: a tuple arrives whole or is refused at emit, and the rest goes on', async (t) => {
  const cluster = await aCluster(t);
  const fits = LIMIT_BYTES - OVERHEAD_BYTES;
  const sizes = [1024, fits - 1, fits, 0, fits + 1, 40_000, 256 * MEBIBYTE, 1024];
  const result = (await cluster.run('sizes', 'sizes', {
    args: [9 * MEBIBYTE, ...sizes],
    config: {
      ...THREE_CONTAINERS,
      'heron.instance.set.data.tuple.size.bytes': LIMIT_BYTES,
      'heron.streammgr.network.options.maximum.packet.mb': 10,
    },
  })) as Results;
  const sent = sizes.filter((size) => size <= fits);
  assert.deepEqual(
    result['sizes'],
    sizes.map((size) => (size <= fits ? `${size} sent` : `${size} TUPLE_TOO_LARGE`)),
  );
  assert.deepEqual(result['large'], ['1 sent', `${9 * MEBIBYTE} sent`, '2 sent']);
  const arrived = [...sent, 1, 9 * MEBIBYTE, 2];
  assert.deepEqual(result['arrivals']?.map(String).toSorted(), arrived.map(String).toSorted());
});

const OUTPUTS = 200_000;
const OUTPUT_BYTES = 500;
/**
 * A Node process with the engine takes about 90 MiB; rings, windows and packets at most 40 more.
 * What is sent is 200 MiB, so a queue without a bound shows.
 */
const MEMORY_MAX_MB = 165;

test('O09: one input becomes 200,000 outputs for a slow receiver in bounded memory', async (t) => {
  const cluster = await aCluster(t);
  const gate = join(cluster.folder, 'seen');
  await cluster.submit('fan-out', 'fan-out', {
    args: [OUTPUTS, OUTPUT_BYTES, gate],
    config: { ...THREE_CONTAINERS, 'topology.stmgrs': 2 },
  });
  const result = await eventually(() => cluster.result('fan-out'), PATIENTLY);
  const memory = memoryOf(cluster);
  await writeFile(gate, '');
  assert.equal((await cluster.completion('fan-out')).result, 'completed');
  assert.deepEqual(result, { count: OUTPUTS, sum: (OUTPUTS * (OUTPUTS - 1)) / 2 });
  t.diagnostic(`peak memory in MiB: ${JSON.stringify(memory)}`);
  const tooMuch = Object.entries(memory).filter(([, peakMb]) => peakMb > MEMORY_MAX_MB);
  assert.deepEqual(tooMuch, []);
});

function memoryOf(cluster: Cluster): Readonly<Record<string, number>> {
  return Object.fromEntries(
    cluster.processes().map(({ name, pid }) => [name, peakMemoryMb(pid)] as const),
  );
}
