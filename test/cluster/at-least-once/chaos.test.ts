import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { delay, systemClock } from '../../../src/base/clock.ts';
import { aCluster, type Cluster, PATIENTLY, THREE_CONTAINERS } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryMb } from '../../support/process-table.ts';
import { Switchboard } from '../../support/switchboard.ts';
import { chooseFault, SeededChoice, strike } from './faults.ts';
import { SunkLines } from './sunk-lines.ts';

/*
  Nothing is lost whatever is killed, paused and cut. For two minutes faults strike a topology that
  reads lines, works on them slowly and writes them to files; then all lines have to be there.

  How many lines there are depends on how fast the machine is: no more are written while many have
  not come out. So what is left when the faults are over is bounded, and so is the wait for it.

    HERON_CHAOS_SECONDS   how long faults strike: 120 unless given
    HERON_CHAOS_SEED      the faults: the same seed chooses the same kinds, aims and times
*/

const SECONDS = Number(process.env['HERON_CHAOS_SECONDS'] ?? 120);
const SEED = Number(process.env['HERON_CHAOS_SEED'] ?? 1);
const FILES = 2;
/** Half of what the slow bolts can do on an idle machine. */
const LINES_PER_SECOND = 300;
/** So many may be on their way: more than the spouts may have pending, so that files hold some. */
const UNDER_WAY_MAX = 1_500;
/** What has to come out before faults begin. */
const WARM_UP_LINES = 1_500;
const SLOW_MS = 4;
const WRITE_EVERY_MS = 100;
const CONFIG = {
  ...THREE_CONTAINERS,
  'topology.reliability.mode': 'ATLEAST_ONCE',
  // Many times what all that may be pending takes, so that a busy machine does not replay for ever.
  'topology.message.timeout.secs': 10,
  'topology.max.spout.pending': 200,
  // A line that becomes a dead letter would be missing.
  'topology.retry.limit': 100_000,
  'topology.retry.backoff.max.ms': 1_000,
  'heron.executor.restart.backoff.max.ms': 500,
  'heron.executor.restart.attempts.max': 100_000,
};
/** For all lines to be there after the last fault: far above what it takes. */
const RECOVERED = { ...PATIENTLY, pauseMs: 100 };
/** Node's heap moves by some of it between two collections. */
const GROWTH_MAX_MB = 60;
const PIPELINE = join(import.meta.dirname, 'fixtures/topologies/pipeline.ts');

/** Appends lines at a steady pace until it is told to stop, and never too many at once. */
class LineWriter {
  written = 0;
  readonly #folder: string;
  readonly #sunk: SunkLines;
  readonly #timer = systemClock.every(WRITE_EVERY_MS, () => this.#write());

  constructor(folder: string, sunk: SunkLines) {
    this.#folder = folder;
    this.#sunk = sunk;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #write(): void {
    this.#sunk.read();
    const room = UNDER_WAY_MAX - (this.written - this.#sunk.distinct.size);
    const end = this.written + Math.min(room, (LINES_PER_SECOND * WRITE_EVERY_MS) / 1000);
    const texts = Array.from({ length: FILES }, () => '');
    for (; this.written < end; this.written += 1) {
      texts[this.written % FILES] += `line ${this.written}\n`;
    }
    for (const [file, text] of texts.entries()) {
      appendFileSync(join(this.#folder, `lines-${file}.txt`), text);
    }
  }
}

function assertAllThere(sunk: SunkLines, written: number): void {
  sunk.read();
  const missing: string[] = [];
  for (let n = 0; n < written; n += 1) {
    if (!sunk.distinct.has(`line ${n}`)) missing.push(`line ${n}`);
  }
  const some = missing.slice(0, 20).join(', ');
  assert.equal(missing.length, 0, `${missing.length} of ${written} lines are missing: ${some}`);
  assert.equal(sunk.distinct.size, written);
}

/** Memory by process and pid: what dies and comes back is another one. */
function memoryOf(cluster: Cluster): ReadonlyMap<string, number> {
  const carriers = cluster.processes().filter(({ name }) => /^(stmgr|container_)/.test(name));
  return new Map(carriers.map(({ name, pid }) => [`${name} (${pid})`, memoryMb(pid)]));
}

function assertMemoryIsBack(t: TestContext, before: ReadonlyMap<string, number>, cluster: Cluster) {
  const survivors = [...memoryOf(cluster)].filter(([name]) => before.has(name));
  const growth = survivors.map(([name, mb]) => [name, mb - (before.get(name) ?? 0)] as const);
  t.diagnostic(`MiB more than before, of those that survived: ${JSON.stringify(growth)}`);
  assert.deepEqual(
    growth.filter(([, moreMb]) => moreMb > GROWTH_MAX_MB),
    [],
  );
}

async function strikeFor(
  seconds: number,
  world: { readonly cluster: Cluster; readonly board: Switchboard },
  struck: string[],
): Promise<void> {
  const random = new SeededChoice(SEED);
  const startedAtMs = systemClock.now();
  const secondsGone = (): number => (systemClock.now() - startedAtMs) / 1000;
  const pending: Promise<void>[] = [];
  while (secondsGone() < seconds) {
    const fault = chooseFault(random);
    const atSeconds = secondsGone().toFixed(1);
    const what = strike(fault, world, (ms, call) => {
      pending.push(delay(systemClock, ms).then(call));
    });
    if (what !== undefined) struck.push(`${atSeconds} s: ${what}`);
    await delay(systemClock, fault.gapMs);
  }
  await Promise.all(pending);
  world.board.heal();
}

test(`nothing is lost while processes and connections fail (seed ${SEED})`, async (t) => {
  // Ahead of the cluster, whose end may fail: a hook behind one that fails is not run.
  const board = await Switchboard.start(t);
  const cluster = await aCluster(t);
  Object.assign(cluster.environment, board.environment);
  const folder = join(cluster.folder, 'lines');
  await mkdir(folder);
  await cluster.submit(PIPELINE, 'pipeline', { args: [folder, SLOW_MS], config: CONFIG });
  const sunk = new SunkLines(folder);
  const writer = new LineWriter(folder, sunk);
  const struck: string[] = [];
  try {
    await eventually(() => {
      assert.ok(sunk.count > WARM_UP_LINES, `${sunk.count} lines have come out`);
      assert.ok(board.calls().length >= 10, 'the switchboard stands in the connections');
    }, RECOVERED);
    const before = memoryOf(cluster);
    await strikeFor(SECONDS, { cluster, board }, struck);
    writer.stop();
    await eventually(() => assertAllThere(sunk, writer.written), RECOVERED);
    assertMemoryIsBack(t, before, cluster);
    const drained = await cluster.drain('pipeline');
    assert.equal(drained.code, 0, drained.stdout + drained.stderr);
    assertAllThere(sunk, writer.written);
  } catch (error) {
    t.diagnostic(`HERON_CHAOS_SEED=${SEED}, faults:\n${struck.join('\n')}`);
    throw error;
  } finally {
    writer.stop();
  }
  const { count, distinct } = sunk;
  t.diagnostic(
    `${struck.length} faults, ${distinct.size} lines, ${count - distinct.size} duplicates`,
  );
});
