import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aCluster, type Cluster, PATIENTLY } from '../../support/cluster.ts';
import { countedSoFar, FREQUENT_METRICS } from '../../support/cluster-metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { peakMemoryMb } from '../../support/process-table.ts';
import { type Call, Switchboard } from '../../support/switchboard.ts';
import type { Counts } from './fixtures/topologies/overload.ts';

/*
  Bolts that stall, processes that stop and processes that die while spouts emit what they can: it
  stays within bounds, and goes on when it can.
*/

const OVERLOAD = join(import.meta.dirname, 'fixtures/topologies/overload.ts');
const AT_LEAST_ONCE = { 'topology.reliability.mode': 'ATLEAST_ONCE' };
/** Far more than queues hold, so that it is back pressure that a spout waits for. */
const MANY_PENDING = { 'topology.max.spout.pending': 200_000 };
/** Back pressure by age as soon as a test can see it. */
const SOON_BEHIND = { 'heron.streammgr.backpressure.age.ms': 500 };
/**
 * A Node process with the engine takes about 90 MiB; rings, windows and packets at most 40 more,
 * and 200,000 trees and messages take less than 20.
 */
const MEMORY_MAX_MB = 170;

type Config = Readonly<Record<string, string | number>>;

/** The topology `overload` of one test. */
class Overload {
  readonly cluster: Cluster;
  readonly folder: string;

  static async submit(
    t: TestContext,
    graphs: readonly string[],
    config: Config,
    { limit = 0, bytes = 100, environment = {} } = {},
  ): Promise<Overload> {
    const cluster = await aCluster(t);
    Object.assign(cluster.environment, environment);
    const folder = join(cluster.folder, 'overload');
    await mkdir(folder);
    await cluster.submit(OVERLOAD, 'overload', {
      args: [folder, limit, bytes, ...graphs],
      config: { ...FREQUENT_METRICS, ...config },
    });
    return new Overload(cluster, folder);
  }

  private constructor(cluster: Cluster, folder: string) {
    this.cluster = cluster;
    this.folder = folder;
  }

  counts(component: string): Counts {
    const file = join(this.folder, `${component}.json`);
    if (!existsSync(file)) return { emitted: 0, acked: 0, failed: {}, executed: 0 };
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  }

  /** Waits until a spout has emitted so many more than now. */
  async goesOn(spout: string, more: number): Promise<void> {
    const { emitted } = this.counts(spout);
    await eventually(() => {
      const now = this.counts(spout).emitted;
      assert.ok(now >= emitted + more, `${spout}: ${emitted} before, ${now} now`);
    }, PATIENTLY);
  }

  /** Waits until it has emitted something, and then nothing for a time; how much in all. */
  async comesToRest(spout: string): Promise<number> {
    let before = -1;
    return eventually(
      () => {
        const { emitted } = this.counts(spout);
        const isAtRest = emitted > 0 && emitted === before;
        before = emitted;
        assert.ok(isAtRest, `${spout} emits`);
        return emitted;
      },
      { ...PATIENTLY, pauseMs: 1_000 },
    );
  }

  stall(bolt: string): Promise<void> {
    return writeFile(join(this.folder, `stall-${bolt}`), '');
  }

  release(bolt: string): Promise<void> {
    return rm(join(this.folder, `stall-${bolt}`));
  }

  /** Lets bolts end that have come to the end of their input. */
  openGate(): Promise<void> {
    return writeFile(join(this.folder, 'gate'), '');
  }

  /** Peak memory, in MiB, of all that carries tuples. */
  assertMemoryIsBounded(t: TestContext): void {
    const carriers = this.cluster
      .processes()
      .filter(({ name }) => /^(stmgr|container_)/.test(name))
      .map(({ name, pid }) => [name, peakMemoryMb(pid)] as const);
    t.diagnostic(`peak memory in MiB: ${JSON.stringify(Object.fromEntries(carriers))}`);
    assert.deepEqual(
      carriers.filter(([, peakMb]) => peakMb > MEMORY_MAX_MB),
      [],
    );
  }
}

const TUPLE_BYTES = 8 * 1024;

test('O08: without acks, a bolt that stalls: the spout waits, and memory is bounded', async (t) => {
  const overload = await Overload.submit(t, ['numbers:slow'], {}, { bytes: TUPLE_BYTES });
  await overload.goesOn('numbers', 1_000);
  await overload.stall('slow');
  const emitted = await overload.comesToRest('numbers');
  const held = (emitted - overload.counts('slow').executed) * TUPLE_BYTES;
  t.diagnostic(`held: ${held} bytes`);
  assert.ok(held < 32 * 1024 * 1024, `${held} bytes are on their way`);
  overload.assertMemoryIsBounded(t);
  await overload.release('slow');
  await overload.goesOn('numbers', 10_000);
  await overload.cluster.kill('overload');
});

test('O06: with acks, downstream stands still: bounded memory, then nothing is lost', async (t) => {
  const limit = 30_000;
  const overload = await Overload.submit(
    t,
    ['numbers:slow'],
    // Shorter than the stall: trees that wait because of back pressure do not fail by the clock.
    { ...AT_LEAST_ONCE, ...MANY_PENDING, ...SOON_BEHIND, 'topology.message.timeout.secs': 3 },
    { limit, bytes: TUPLE_BYTES },
  );
  await overload.goesOn('numbers', 1_000);
  const { pid } = await overload.cluster.killProcess('container_1_slow_2', 'SIGSTOP');
  const startedAt = performance.now();
  const emitted = await overload.comesToRest('numbers');
  assert.ok(emitted < limit, 'the spout is in the middle');
  await eventually(() => assert.ok(performance.now() - startedAt > 6_000), PATIENTLY);
  overload.assertMemoryIsBounded(t);
  process.kill(pid, 'SIGCONT');
  await eventually(() => {
    const { acked, failed } = overload.counts('numbers');
    assert.deepEqual([acked, failed], [limit, {}]);
  }, PATIENTLY);
  assert.equal(overload.counts('slow').executed, limit);
  await overload.openGate();
  assert.equal((await overload.cluster.completion('overload')).result, 'completed');
});

test('O05: a connection that stands still for a while: nothing is dropped', async (t) => {
  const limit = 200_000;
  const board = await Switchboard.start(t);
  const { environment } = board;
  const overload = await Overload.submit(t, ['numbers:slow'], SOON_BEHIND, { limit, environment });
  await overload.goesOn('numbers', 1_000);
  const ofSlow = ({ from }: Call): boolean => from === 'container_1_slow_2';
  board.hold(ofSlow);
  assert.ok(board.calls(ofSlow).length > 0);
  const emitted = await overload.comesToRest('numbers');
  assert.ok(emitted < limit, 'the spout is in the middle');
  board.heal();
  await eventually(() => assert.equal(overload.counts('slow').executed, limit), PATIENTLY);
  assert.equal(countedSoFar(overload.cluster, '__stmgr__', '__server/__tuples_dropped'), 0);
  await overload.openGate();
  assert.equal((await overload.cluster.completion('overload')).result, 'completed');
});

const DROPPING = { 'topology.droptuples.upon.backpressure': 'true', ...SOON_BEHIND };

for (const { acks, config } of [
  { acks: 'without acks', config: DROPPING },
  { acks: 'with acks', config: { ...DROPPING, ...AT_LEAST_ONCE, ...MANY_PENDING } },
]) {
  test(`O05: tuples are dropped where it was asked for, ${acks}: each is counted`, async (t) => {
    const limit = 400_000;
    const overload = await Overload.submit(t, ['numbers:slow'], config, { limit });
    const { cluster } = overload;
    await overload.goesOn('numbers', 1_000);
    const { pid } = await cluster.killProcess('container_1_slow_2', 'SIGSTOP');
    const dropped = () => countedSoFar(cluster, '__stmgr__', '__server/__tuples_dropped');
    await eventually(() => assert.ok(dropped() > 1_000), PATIENTLY);
    process.kill(pid, 'SIGCONT');
    await eventually(() => assert.equal(overload.counts('numbers').emitted, limit), PATIENTLY);
    await eventually(() => {
      assert.equal(overload.counts('slow').executed + dropped(), limit);
    }, PATIENTLY);
    if (acks === 'with acks') {
      await eventually(() => {
        const { acked, failed } = overload.counts('numbers');
        assert.deepEqual(failed, { dropped: dropped() });
        assert.equal(acked, overload.counts('slow').executed);
      }, PATIENTLY);
    }
    await overload.openGate();
    await cluster.completion('overload');
  });
}

test('O01: who caused back pressure dies: emission goes on', async (t) => {
  const config = { ...AT_LEAST_ONCE, ...MANY_PENDING, ...SOON_BEHIND, 'topology.stmgrs': 2 };
  const overload = await Overload.submit(t, ['numbers:slow'], config);
  const { cluster } = overload;
  for (const victim of ['container_2_slow_2', 'stmgr-2', 'executor-2']) {
    await t.test(`O01: kill -9 of ${victim} under back pressure`, async () => {
      await overload.goesOn('numbers', 1_000);
      await overload.stall('slow');
      await overload.comesToRest('numbers');
      await cluster.killProcess(victim);
      await overload.release('slow');
      await overload.goesOn('numbers', 20_000);
    });
  }
  await cluster.kill('overload');
});

test('O03: only what is upstream of a slow bolt waits, as long as one of them is', async (t) => {
  const config = { ...AT_LEAST_ONCE, ...MANY_PENDING, ...SOON_BEHIND };
  const overload = await Overload.submit(t, ['fed:one,two', 'other:free'], config);
  const { cluster } = overload;
  await overload.goesOn('fed', 1_000);
  await overload.stall('one');
  await overload.stall('two');
  const emitted = await overload.comesToRest('fed');
  const freeBefore = overload.counts('free').executed;
  await t.test('O03: the other sub-graph goes on', async () => {
    await overload.goesOn('other', 100_000);
    assert.ok(overload.counts('free').executed > freeBefore);
    assert.equal(overload.counts('fed').emitted, emitted);
  });
  await t.test(
    'O03: one of two slow bolts recovers, and the spout waits for the other',
    async () => {
      const before = overload.counts('one').executed;
      await overload.release('one');
      await eventually(() => assert.ok(overload.counts('one').executed > before), PATIENTLY);
      // What waited for the one that recovered makes room for a little, not for more.
      const after = await overload.comesToRest('fed');
      await overload.goesOn('other', 100_000);
      assert.equal(overload.counts('fed').emitted, after);
    },
  );
  await t.test('O03: both have recovered, and the spout goes on', async () => {
    await overload.release('two');
    await overload.goesOn('fed', 20_000);
  });
  await cluster.kill('overload');
});
