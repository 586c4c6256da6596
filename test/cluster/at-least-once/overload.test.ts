import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aCluster, type Cluster, PATIENTLY, UNHURRIED } from '../../support/cluster.ts';
import { countedSoFar, FREQUENT_METRICS, nextPublications } from '../../support/cluster-metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { peakMemoryMb } from '../../support/process-table.ts';
import { type Call, Switchboard } from '../../support/switchboard.ts';
import { type Counts, noCounts } from './fixtures/topologies/overload.ts';

/*
  Bolts that stall, processes that stop and processes that die while spouts emit what they can: it
  stays within bounds, and goes on when it can.

  What tasks count is compared when they have ended, or where the file of one is known to be exact:
  at other times the files of two tasks tell of different moments (W1 in the topology). How much a
  spout emits is its own affair, so that no test has to be faster than it.
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

/** Looks of a spout in a row at which nothing has been asked of it: a second of its own time. */
const QUIET = 20;

/** The topology `overload` of one test. */
class Overload {
  readonly cluster: Cluster;
  readonly folder: string;
  #stalls = 0;

  static async submit(
    t: TestContext,
    graphs: readonly string[],
    config: Config,
    { bytes = 100, environment = {} } = {},
  ): Promise<Overload> {
    const cluster = await aCluster(t);
    Object.assign(cluster.environment, environment);
    const folder = join(cluster.folder, 'overload');
    await mkdir(folder);
    await cluster.submit(OVERLOAD, 'overload', {
      args: [folder, bytes, ...graphs],
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
    if (!existsSync(file)) return noCounts();
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  }

  /** Waits until tuples arrive, so that the connections are there that they travel on. */
  async flowsTo(...bolts: readonly string[]): Promise<void> {
    for (const bolt of bolts) {
      await eventually(() => {
        assert.ok(this.counts(bolt).executed > 0, `${bolt} has executed nothing`);
      }, PATIENTLY);
    }
  }

  /** Waits until a spout has emitted so many more than now. */
  async goesOn(spout: string, more: number): Promise<void> {
    const { emitted } = this.counts(spout);
    await eventually(() => {
      const now = this.counts(spout).emitted;
      assert.ok(now >= emitted + more, `${spout}: ${emitted} before, ${now} now`);
    }, PATIENTLY);
  }

  /**
   * Waits until the engine asks nothing of a spout any more, by the spout's own time, which does
   * not pass while its process has to wait for a busy machine; what it has emitted.
   */
  async comesToRest(spout: string): Promise<number> {
    return eventually(() => {
      const { emitted, quiet } = this.counts(spout);
      assert.ok(emitted > 0 && quiet >= QUIET, `${spout}: ${emitted}, quiet for ${quiet} looks`);
      return emitted;
    }, PATIENTLY);
  }

  /** Waits until a spout has come to rest for good: it stays so while others go on. */
  async standsStill(spout: string, others: () => Promise<void>): Promise<void> {
    await eventually(async () => {
      const emitted = await this.comesToRest(spout);
      await others();
      assert.equal(await this.#emittedNow(spout), emitted);
    }, PATIENTLY);
  }

  /** From a file that was begun after this call. */
  async #emittedNow(spout: string): Promise<number> {
    const { writes } = this.counts(spout);
    return eventually(() => {
      const counts = this.counts(spout);
      assert.ok(counts.writes >= writes + 2, `${spout} writes nothing`);
      return counts.emitted;
    }, PATIENTLY);
  }

  /** Waits until a bolt stalls; what it has executed is exact from then on. */
  async stall(bolt: string): Promise<Counts> {
    this.#stalls += 1;
    const [file, sign] = [join(this.folder, `stall-${bolt}`), String(this.#stalls)];
    await writeFile(`${file}.unfinished`, sign);
    await rename(`${file}.unfinished`, file);
    return eventually(() => {
      const counts = this.counts(bolt);
      assert.equal(counts.stalledBy, sign, `${bolt} does not stall`);
      return counts;
    }, PATIENTLY);
  }

  release(bolt: string): Promise<void> {
    return rm(join(this.folder, `stall-${bolt}`));
  }

  /** Waits until a task has ended: what it says then is exact, and its last word. */
  #ended(component: string): Promise<Counts> {
    return eventually(() => {
      const counts = this.counts(component);
      assert.ok(counts.hasEnded, `${component} has not ended: ${JSON.stringify(counts)}`);
      return counts;
    }, PATIENTLY);
  }

  /** Ends the input of `numbers`, and waits for the end of all that comes of it. */
  async end(): Promise<{ readonly numbers: Counts; readonly slow: Counts }> {
    await writeFile(join(this.folder, 'end-numbers'), '');
    return { numbers: await this.#ended('numbers'), slow: await this.#ended('slow') };
  }

  /** Milliseconds, by the stream managers' clocks, for which they have called a task behind. */
  behindMs(instance: string): number {
    const metric = `__time_spent_back_pressure_by_compid/${instance}`;
    return countedSoFar(this.cluster, '__stmgr__', metric);
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

/** Every number has come, and none of them twice. */
function assertSameNumbers(numbers: Counts, slow: Counts): void {
  assert.deepEqual([slow.executed, slow.sum], [numbers.emitted, numbers.sum]);
}

test('O08: without acks, a bolt that stalls: the spout waits, and memory is bounded', async (t) => {
  const overload = await Overload.submit(t, ['numbers:slow'], {}, { bytes: TUPLE_BYTES });
  await overload.flowsTo('slow');
  const { executed } = await overload.stall('slow');
  const emitted = await overload.comesToRest('numbers');
  const held = (emitted - executed) * TUPLE_BYTES;
  t.diagnostic(`held: ${held} bytes`);
  assert.ok(held < 32 * 1024 * 1024, `${held} bytes are on their way`);
  overload.assertMemoryIsBounded(t);
  await overload.release('slow');
  await overload.goesOn('numbers', 10_000);
  const { numbers, slow } = await overload.end();
  assertSameNumbers(numbers, slow);
  await overload.openGate();
  assert.equal((await overload.cluster.completion('overload')).result, 'completed');
});

test('O06: with acks, downstream stands still: bounded memory, then nothing is lost', async (t) => {
  const timeoutSeconds = 5;
  const overload = await Overload.submit(
    t,
    ['numbers:slow'],
    {
      ...AT_LEAST_ONCE,
      ...MANY_PENDING,
      ...SOON_BEHIND,
      'topology.message.timeout.secs': timeoutSeconds,
    },
    { bytes: TUPLE_BYTES },
  );
  await overload.flowsTo('slow');
  const { pid } = await overload.cluster.killProcess('container_1_slow_2', 'SIGSTOP');
  await overload.comesToRest('numbers');
  // Far longer than it takes for a tree to fail by the clock, which has to stand still meanwhile.
  const stallMs = 2_000 * timeoutSeconds;
  await eventually(() => {
    const behindMs = overload.behindMs('container_1_slow_2');
    assert.ok(behindMs > stallMs, `back pressure has held for ${behindMs} ms`);
  }, PATIENTLY);
  overload.assertMemoryIsBounded(t);
  process.kill(pid, 'SIGCONT');
  await overload.goesOn('numbers', 10_000);
  const { numbers, slow } = await overload.end();
  assert.deepEqual([numbers.acked, numbers.failed], [numbers.emitted, {}]);
  assertSameNumbers(numbers, slow);
  await overload.openGate();
  assert.equal((await overload.cluster.completion('overload')).result, 'completed');
});

test('O05: a connection that stands still for a while: nothing is dropped', async (t) => {
  const board = await Switchboard.start(t);
  const { environment } = board;
  const overload = await Overload.submit(t, ['numbers:slow'], SOON_BEHIND, { environment });
  await overload.flowsTo('slow');
  const ofSlow = ({ from }: Call): boolean => from === 'container_1_slow_2';
  board.hold(ofSlow);
  assert.ok(board.calls(ofSlow).length > 0);
  await overload.comesToRest('numbers');
  board.heal();
  await overload.goesOn('numbers', 100_000);
  const { numbers, slow } = await overload.end();
  assertSameNumbers(numbers, slow);
  await nextPublications(overload.cluster, '__stmgr__');
  assert.equal(countedSoFar(overload.cluster, '__stmgr__', '__server/__tuples_dropped'), 0);
  await overload.openGate();
  assert.equal((await overload.cluster.completion('overload')).result, 'completed');
});

const DROPPING = { 'topology.droptuples.upon.backpressure': 'true', ...SOON_BEHIND };

for (const { acks, config } of [
  { acks: 'without acks', config: DROPPING },
  { acks: 'with acks', config: { ...DROPPING, ...AT_LEAST_ONCE, ...MANY_PENDING, ...UNHURRIED } },
]) {
  test(`O05: tuples are dropped where it was asked for, ${acks}: each is counted`, async (t) => {
    const overload = await Overload.submit(t, ['numbers:slow'], config);
    const { cluster } = overload;
    await overload.flowsTo('slow');
    const { pid } = await cluster.killProcess('container_1_slow_2', 'SIGSTOP');
    const dropped = () => countedSoFar(cluster, '__stmgr__', '__server/__tuples_dropped');
    await eventually(() => assert.ok(dropped() > 1_000), PATIENTLY);
    process.kill(pid, 'SIGCONT');
    await overload.goesOn('numbers', 10_000);
    const { numbers, slow } = await overload.end();
    await nextPublications(cluster, '__stmgr__');
    assert.equal(slow.executed + dropped(), numbers.emitted);
    if (acks === 'with acks') {
      assert.deepEqual(numbers.failed, { dropped: dropped() });
      assert.equal(numbers.acked, slow.executed);
    }
    await overload.openGate();
    assert.equal((await cluster.completion('overload')).result, 'completed');
  });
}

test('O01: who caused back pressure dies: emission goes on', async (t) => {
  const config = { ...AT_LEAST_ONCE, ...MANY_PENDING, ...SOON_BEHIND, 'topology.stmgrs': 2 };
  const overload = await Overload.submit(t, ['numbers:slow'], config);
  const { cluster } = overload;
  for (const victim of ['container_2_slow_2', 'stmgr-2', 'executor-2']) {
    await t.test(`O01: kill -9 of ${victim} under back pressure`, async () => {
      await overload.flowsTo('slow');
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
  await overload.flowsTo('one', 'two', 'free');
  const { executed } = await overload.stall('one');
  await overload.stall('two');
  await t.test('O03: the other sub-graph goes on', async () => {
    const freeBefore = overload.counts('free').executed;
    await overload.standsStill('fed', () => overload.goesOn('other', 100_000));
    await eventually(() => assert.ok(overload.counts('free').executed > freeBefore), PATIENTLY);
  });
  await t.test(
    'O03: one of two slow bolts recovers, and the spout waits for the other',
    async () => {
      await overload.release('one');
      await eventually(() => assert.ok(overload.counts('one').executed > executed), PATIENTLY);
      // What waited for the one that recovered makes room for a little, not for more.
      await overload.standsStill('fed', () => overload.goesOn('other', 100_000));
    },
  );
  await t.test('O03: both have recovered, and the spout goes on', async () => {
    await overload.release('two');
    await overload.goesOn('fed', 20_000);
  });
  await cluster.kill('overload');
});
