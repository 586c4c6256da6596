import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { delay, systemClock } from '../../../../src/base/clock.ts';
import { packageRoot } from '../../../../src/base/entry.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { type Cluster, PATIENTLY, THREE_CONTAINERS } from '../../../support/cluster.ts';
import { eventually } from '../../../support/eventually.ts';
import { memoryMb } from '../../../support/process-table.ts';
import { RunningPipeline } from '../../../support/running-pipeline.ts';
import { SeededChoice } from '../../../support/seeded-choice.ts';
import type { Switchboard } from '../../../support/switchboard.ts';
import { Commands, LAST_CONTAINERS, LAST_UPDATE } from './commands.ts';
import {
  CHILD_SILENCE_MS,
  chooseFault,
  EXECUTOR_SILENCE_MS,
  type Store,
  strike,
  type World,
} from './faults.ts';

/*
  Nothing is lost whatever is killed, paused, cut, resized and restarted. For a while faults strike
  a topology that reads lines, works on them slowly and writes them to files. When they are over,

  C1. it runs again by itself, with every process that its plan has, and each of them once;
  C2. the sizes that are asked for then are there, whatever updates were under way;
  C3. every line has come out, at least once; no message has been given up, no death costs anything;
  C4. what survived has not grown.

  How many lines there are depends on how fast the machine is: no more are written while many have
  not come out. So what is left when the faults are over is bounded, and so is the wait for it.

    HERON_CHAOS_SECONDS   how long faults strike: 75 unless given
    HERON_CHAOS_KILLS     until so many processes have been killed, instead
    HERON_CHAOS_SEED      the faults: the same seed chooses the same kinds, aims and times

  What a failed run leaves, logs and state, is kept in `.cache/chaos`.
*/

const SECONDS = Number(process.env['HERON_CHAOS_SECONDS'] ?? 75);
const KILLS = Number(process.env['HERON_CHAOS_KILLS'] ?? 0);
export const SEED = Number(process.env['HERON_CHAOS_SEED'] ?? 1);
const WARM_UP_LINES = 1_500;
const NAME = 'pipeline';
const CONFIG = {
  ...THREE_CONTAINERS,
  'topology.stmgrs': LAST_CONTAINERS,
  'heron.executor.child.silence.ms': CHILD_SILENCE_MS,
  'heron.scheduler.executor.silence.ms': EXECUTOR_SILENCE_MS,
  'heron.update.factor.max': 10,
};
/** For all lines to be there after the last fault: far above what it takes. */
const RECOVERED = { timeoutMs: 2 * PATIENTLY.timeoutMs, pauseMs: 500 };
/** Node's heap moves by some of it between two collections. */
const GROWTH_MAX_MB = 60;

export interface ChaosSite {
  readonly cluster: Cluster;
  readonly board: Switchboard;
  readonly store?: Store;
}

/** What happened, for whoever reads of a failure. */
class Chronicle {
  readonly faults: string[] = [];
  kills = 0;
  #startedAtMs = 0;

  begin(): void {
    this.#startedAtMs = systemClock.now();
  }

  get seconds(): number {
    return (systemClock.now() - this.#startedAtMs) / 1000;
  }

  note(what: readonly string[]): void {
    for (const text of what) {
      this.faults.push(`${this.seconds.toFixed(1)} s: ${text}`);
      if (text.startsWith('kill ')) this.kills += 1;
    }
  }

  isOver(): boolean {
    return KILLS > 0 ? this.kills >= KILLS : this.seconds >= SECONDS;
  }
}

async function strikeAll(world: World, chronicle: Chronicle): Promise<void> {
  const random = new SeededChoice(SEED);
  const pending = new Set<Promise<void>>();
  while (!chronicle.isOver()) {
    const fault = chooseFault(random);
    const later = (ms: number, call: () => void): void => {
      const end = delay(systemClock, ms).then(() => {
        call();
        pending.delete(end);
      });
      pending.add(end);
    };
    chronicle.note(strike(fault, world, later));
    await delay(systemClock, fault.gapMs);
  }
  await Promise.all(pending);
  world.board.heal();
  await world.commands.haveEnded();
}

/** Memory by process and pid: what dies and comes back is another one. */
function memoryOf(cluster: Cluster): ReadonlyMap<string, number> {
  const carriers = cluster.processes().filter(({ name }) => /^(stmgr|container_)/.test(name));
  return new Map(carriers.map(({ name, pid }) => [`${name} (${pid})`, memoryMb(pid)]));
}

/** C4 */
function assertMemoryIsBack(t: TestContext, before: ReadonlyMap<string, number>, cluster: Cluster) {
  const survivors = [...memoryOf(cluster)].filter(([name]) => before.has(name));
  const growth = survivors.map(([name, mb]) => [name, mb - (before.get(name) ?? 0)] as const);
  t.diagnostic(`MiB more than before, of those that survived: ${JSON.stringify(growth)}`);
  assert.deepEqual(
    growth.filter(([, moreMb]) => moreMb > GROWTH_MAX_MB),
    [],
  );
}

/** C1, C2 */
async function assertSizesAsAsked(pipeline: RunningPipeline): Promise<void> {
  const { cluster } = pipeline;
  // The last of what has been asked for while faults struck may have been to rest.
  await eventually(async () => {
    const { code, stderr } = await cluster.heron('activate', cluster.place, NAME);
    assert.equal(code, 0, stderr);
  }, RECOVERED);
  await pipeline.untilState('RUNNING');
  const sizes = [...LAST_UPDATE, '--container-number', String(LAST_CONTAINERS)];
  const updated = await cluster.heron('update', '--timeout=240', ...sizes, cluster.place, NAME);
  assert.equal(updated.code, 0, updated.stdout + updated.stderr);
  await pipeline.untilState('RUNNING');
  const plan = new PlanIndex(await cluster.physicalPlan(NAME));
  const tasks = plan.plan.topology.components.map(({ name }) => plan.tasksOf(name).length);
  assert.deepEqual([tasks, plan.retiring], [[2, 3, 2], []]);
  const planned = [...plan.plan.instances, ...plan.plan.streamManagers].map(({ id }) => String(id));
  await eventually(() => {
    const names = cluster.processes().map(({ name }) => name);
    const own = names.filter((name) => /^(container_|stmgr-)/.test(name));
    assert.deepEqual(own.toSorted(), planned.toSorted());
  }, RECOVERED);
}

/** The whole test; `site` is a new cluster, with a switchboard that began before it. */
export async function nothingIsLost(t: TestContext, { cluster, board, store }: ChaosSite) {
  Object.assign(cluster.environment, board.environment);
  const options = { config: CONFIG, warmUpLines: WARM_UP_LINES, patience: RECOVERED };
  const pipeline = await RunningPipeline.begin(cluster, options);
  const commands = new Commands(cluster, NAME);
  const chronicle = new Chronicle();
  try {
    assert.ok(board.calls().length >= 10, 'the switchboard stands in the connections');
    const before = memoryOf(cluster);
    chronicle.begin();
    await strikeAll({ cluster, board, commands, store }, chronicle);
    t.diagnostic(accountOf(chronicle, commands));
    pipeline.stopWriting();
    await assertSizesAsAsked(pipeline);
    await pipeline.allCameOut();
    commands.assertAnswers();
    assertMemoryIsBack(t, before, cluster);
    await pipeline.end(); // C3
  } catch (error) {
    const kept = join(packageRoot(), '.cache', 'chaos', `${cluster.name}-${SEED}`);
    cpSync(cluster.folder, kept, { recursive: true, force: true, filter: isWorthKeeping });
    t.diagnostic(`HERON_CHAOS_SEED=${SEED}, faults:\n${chronicle.faults.join('\n')}`);
    t.diagnostic(`commands that did not succeed:\n${commands.complaints().join('\n')}`);
    throw error;
  } finally {
    pipeline.stopWriting();
  }
  const { count, distinct } = pipeline.sunk;
  t.diagnostic(`${distinct.size} lines, ${count - distinct.size} duplicates`);
}

function accountOf({ faults, kills, seconds }: Chronicle, commands: Commands): string {
  const kinds: Record<string, number> = {};
  for (const fault of faults) {
    const [, , , kind = ''] = /^(\S+) (\S+) (\S+)/.exec(fault) ?? [];
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  const ends = JSON.stringify(commands.counts());
  return `${seconds.toFixed(0)} s, ${kills} kills, ${JSON.stringify(kinds)}, commands ${ends}`;
}

function isWorthKeeping(path: string): boolean {
  return !/compile-cache|node_modules|\.tar/.test(path);
}
