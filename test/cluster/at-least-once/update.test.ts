import assert from 'node:assert/strict';
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { aCluster, type Cluster, PATIENTLY, UNHURRIED } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { SunkLines } from '../../support/sunk-lines.ts';

/*
  `heron update` at least once: what is under way when tasks and containers come and go is acked as
  if nothing had happened. Nothing fails, nothing comes twice (S07).
*/

const AT_LEAST_ONCE = { ...UNHURRIED, 'topology.reliability.mode': 'ATLEAST_ONCE' };
/** On a machine that is busy with other tests. */
const PATIENT = ['--timeout', '240'] as const;

async function update(cluster: Cluster, name: string, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await cluster.heron(
    'update',
    ...PATIENT,
    'local',
    name,
    ...args,
  );
  assert.equal(code, 0, `heron update ${args.join(' ')}: ${stdout}${stderr}`);
}

/** The tasks of each component, by the plan in force. */
async function tasksOf(cluster: Cluster, name: string): Promise<Readonly<Record<string, number>>> {
  const plan = new PlanIndex(await cluster.physicalPlan(name));
  assert.deepEqual(plan.retiring, []);
  const names = plan.plan.topology.components.map((component) => component.name);
  return Object.fromEntries(names.map((component) => [component, plan.tasksOf(component).length]));
}

function fixture(name: string): string {
  return join(import.meta.dirname, 'fixtures/topologies', `${name}.ts`);
}

const LINES_PER_WRITE = 20;
const WRITE_EVERY_MS = 100;
const FILES = 2;
const SLOW_MS = 2;

test('lines of files: spouts, bolts and containers come and go; every line once', async (t) => {
  const cluster = await aCluster(t);
  const folder = join(cluster.folder, 'lines');
  await mkdir(folder);
  const config = { ...AT_LEAST_ONCE, 'topology.stmgrs': 2 };
  await cluster.submit(fixture('pipeline'), 'pipeline', { args: [folder, SLOW_MS], config });
  const sunk = new SunkLines(folder);
  let written = 0;
  const writer = systemClock.every(WRITE_EVERY_MS, () => {
    for (let n = 0; n < LINES_PER_WRITE; n += 1, written += 1) {
      appendFileSync(join(folder, `lines-${written % FILES}.txt`), `line ${written}\n`);
    }
  });
  try {
    for (const args of [
      ['--component-parallelism', 'slow:5', '--component-parallelism', 'sink:3'],
      ['--component-parallelism', 'lines:1', '--component-parallelism', 'slow:2'],
      ['--component-parallelism', 'lines:2', '--component-parallelism', 'sink:2'],
      ['--container-number', '4'],
      ['--container-number', '2'],
    ]) {
      await update(cluster, 'pipeline', ...args);
      const atUpdate = written;
      await eventually(() => {
        sunk.read();
        assert.ok(sunk.distinct.has(`line ${atUpdate}`), `line ${atUpdate} has come out`);
      }, PATIENTLY);
      assert.equal(sunk.count, sunk.distinct.size, `lines came twice at ${args.join(' ')}`);
    }
  } finally {
    writer.cancel();
  }
  assert.deepEqual(await tasksOf(cluster, 'pipeline'), { lines: 2, slow: 2, sink: 2 });
  await eventually(() => {
    sunk.read();
    assert.equal(sunk.distinct.size, written);
  }, PATIENTLY);
  assert.equal(sunk.count, written, 'no line came twice');
  const drained = await cluster.drain('pipeline');
  assert.equal(drained.code, 0, drained.stdout + drained.stderr);
  const { incidents, recovered } = JSON.parse(drained.stdout) as Readonly<Record<string, unknown>>;
  assert.deepEqual([incidents, recovered], [[], []]);
});

/** Heron's scale tests, functional and of the topology's structure: tasks before, tasks wanted. */
const SCALING: readonly (readonly [
  string,
  readonly [number, number],
  readonly [number, number],
])[] = [
  ['BasicTopologyOneTaskScaleUp', [1, 2], [2, 3]],
  ['BasicTopologyOneTaskScaleDown', [2, 3], [1, 2]],
  ['BasicTopologyOneTaskScaleUpAndDown', [1, 2], [2, 1]],
  ['BasicTopologyOneTaskScaleUpDown', [1, 3], [2, 2]],
  ['TestScaleUp', [1, 1], [1, 2]],
];

interface Counts {
  readonly emitted: number;
  readonly acked: number;
  readonly failed: number;
}

for (const [heron, before, [spouts, bolts]] of SCALING) {
  test(`Heron's ${heron}, at least once`, async (t) => {
    const cluster = await aCluster(t);
    const until = join(cluster.folder, 'updated');
    const name = 'heron-scaling';
    const args = [until, ...before];
    const run = cluster.run(fixture(name), name, { args, config: AT_LEAST_ONCE });
    const resultFile = cluster.resultFile(name);
    const counts = (): readonly Counts[] =>
      globSync(`${resultFile}.spout-+([0-9])`).map(
        (file) => JSON.parse(readFileSync(file, 'utf8')) as Counts,
      );
    const sum = (key: keyof Counts): number => counts().reduce((all, one) => all + one[key], 0);
    const hasBegun = eventually(() => assert.ok(sum('acked') > 0), PATIENTLY);
    await Promise.race([hasBegun, run]);
    const streamManagers = (await cluster.physicalPlan(name)).streamManagers.length;
    await update(
      cluster,
      name,
      `--component-parallelism=ab-spout:${spouts}`,
      `--component-parallelism=identity-bolt:${bolts}`,
    );
    const wanted = { 'ab-spout': spouts, 'identity-bolt': bolts, counts: 1 };
    assert.deepEqual(await tasksOf(cluster, name), wanted);
    if (heron === 'TestScaleUp') {
      const plan = await cluster.physicalPlan(name);
      assert.deepEqual([streamManagers, plan.streamManagers.length], [1, 2]);
      assert.equal(plan.instances.length, 4);
    }
    // A task that joined may be in force long before its first message.
    const tasks = Math.max(before[0], spouts);
    await eventually(() => assert.equal(counts().length, tasks), PATIENTLY);
    const acked = sum('acked');
    await eventually(() => assert.ok(sum('acked') > acked, 'acks go on'), PATIENTLY);
    writeFileSync(until, '');
    const { A = 0, B = 0 } = (await run) as Readonly<Record<string, number>>;
    const emitted = sum('emitted');
    assert.deepEqual([A + B, sum('acked'), sum('failed')], [emitted, emitted, 0]);
  });
}
