import assert from 'node:assert/strict';
import { appendFileSync, globSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { delay, systemClock } from '../../../src/base/clock.ts';
import { aCluster, type Cluster, THREE_CONTAINERS } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryMb } from '../../support/process-table.ts';
import { Switchboard } from '../../support/switchboard.ts';
import { chooseFault, SeededChoice, strike } from './faults.ts';

/*
  Nothing is lost whatever is killed, paused and cut. For two minutes faults strike a topology that
  reads lines, works on them slowly and writes them to files; then all lines have to be there.

    HERON_CHAOS_SECONDS   how long faults strike: 120 unless given
    HERON_CHAOS_SEED      the faults: the same seed chooses the same kinds, aims and times
*/

const SECONDS = Number(process.env['HERON_CHAOS_SECONDS'] ?? 120);
const SEED = Number(process.env['HERON_CHAOS_SEED'] ?? 1);
const FILES = 2;
/** Half of what the slow bolts can do, so that they work off what has gathered. */
const LINES_PER_SECOND = 300;
const SLOW_MS = 4;
const WRITE_EVERY_MS = 100;
const CONFIG = {
  ...THREE_CONTAINERS,
  'topology.reliability.mode': 'ATLEAST_ONCE',
  'topology.message.timeout.secs': 5,
  'topology.max.spout.pending': 500,
  // A line that becomes a dead letter would be missing.
  'topology.retry.limit': 100_000,
  'topology.retry.backoff.max.ms': 1_000,
  'heron.executor.restart.backoff.max.ms': 500,
  'heron.executor.restart.attempts.max': 100_000,
};
/** All lines have to be there so long after the last fault. */
const RECOVERED = { timeoutMs: 60_000, pauseMs: 100 };
/** Node's heap moves by some of it between two collections. */
const GROWTH_MAX_MB = 60;
const PIPELINE = join(import.meta.dirname, 'fixtures/topologies/pipeline.ts');

/** Appends lines at a steady pace until it is told to stop. */
class LineWriter {
  written = 0;
  readonly #folder: string;
  readonly #startedAtMs = systemClock.now();
  readonly #timer = systemClock.every(WRITE_EVERY_MS, () => this.#write());

  constructor(folder: string) {
    this.#folder = folder;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #write(): void {
    const due = Math.floor(((systemClock.now() - this.#startedAtMs) / 1000) * LINES_PER_SECOND);
    const texts = Array.from({ length: FILES }, () => '');
    for (; this.written < due; this.written += 1) {
      texts[this.written % FILES] += `line ${this.written}\n`;
    }
    for (const [file, text] of texts.entries()) {
      appendFileSync(join(this.#folder, `lines-${file}.txt`), text);
    }
  }
}

/** What the sinks have written: how many lines, and which ones. */
function sunkLines(folder: string): { readonly count: number; readonly distinct: Set<string> } {
  const lines = globSync('sink-*.txt', { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), 'latin1').split('\n').filter(Boolean),
  );
  return { count: lines.length, distinct: new Set(lines) };
}

function assertAllThere(folder: string, written: number): void {
  const { distinct } = sunkLines(folder);
  const missing: string[] = [];
  for (let n = 0; n < written; n += 1) {
    if (!distinct.has(`line ${n}`)) missing.push(`line ${n}`);
  }
  const some = missing.slice(0, 20).join(', ');
  assert.equal(missing.length, 0, `${missing.length} of ${written} lines are missing: ${some}`);
  assert.equal(distinct.size, written);
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
  const writer = new LineWriter(folder);
  const struck: string[] = [];
  try {
    await eventually(() => sunkLines(folder).count > 5 * LINES_PER_SECOND, RECOVERED);
    assert.ok(board.calls().length >= 10, 'the switchboard stands in the connections');
    const before = memoryOf(cluster);
    await strikeFor(SECONDS, { cluster, board }, struck);
    writer.stop();
    await eventually(() => assertAllThere(folder, writer.written), RECOVERED);
    assertMemoryIsBack(t, before, cluster);
    const drained = await cluster.drain('pipeline');
    assert.equal(drained.code, 0, drained.stdout + drained.stderr);
    assertAllThere(folder, writer.written);
  } catch (error) {
    t.diagnostic(`HERON_CHAOS_SEED=${SEED}, faults:\n${struck.join('\n')}`);
    throw error;
  } finally {
    writer.stop();
  }
  const { count, distinct } = sunkLines(folder);
  t.diagnostic(
    `${struck.length} faults, ${distinct.size} lines, ${count - distinct.size} duplicates`,
  );
});
