import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { ContainerProcesses } from '../../../src/executor/container-processes.ts';
import type { ProcessRole, WantedProcess } from '../../../src/executor/wanted-processes.ts';
import type { Ending } from '../../../src/supervision/process-handle.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const roles: Readonly<Record<string, ProcessRole>> = {
  master: 'topology-master',
  stmgr: 'stream-manager',
  metrics: 'metrics-manager',
};

function wanted(name: string, flag = ''): WantedProcess {
  const role = roles[name] ?? 'instance';
  return { name, role, entry: `${role}/main`, flags: [flag], heapLimitMb: undefined };
}

/** Runs fake processes and writes down what is done to them. */
function container() {
  const clock = new ManualClock();
  const events: string[] = [];
  const running = new Map<string, (ending: Partial<Ending>) => void>();
  const deaths: string[] = [];
  const processes = new ContainerProcesses({
    launch: ({ name, flags }) => {
      events.push(`start ${name}${flags.join('')}`);
      assert.ok(!running.has(name), `${name} runs once at a time`);
      const ended = new Promise<Ending>((resolve) => {
        running.set(name, (ending) => {
          running.delete(name);
          resolve({ code: null, signal: null, lastLines: [], ...ending });
        });
      });
      return { pid: 1, ended, signal: (signal) => events.push(`${signal} ${name}`) };
    },
    onDeath: ({ name }, { code }) => deaths.push(`${name} ${code}`),
    history: new Map(),
    policy: { backoffMinMs: 100, backoffMaxMs: 400, attemptsMax: 3, healthyAfterMs: 60_000 },
    graceMs: 5_000,
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    onChange: () => {},
  });
  const end = async (name: string, ending: Partial<Ending> = { code: 0 }): Promise<void> => {
    running.get(name)?.(ending);
    await settled();
  };
  const take = (): readonly string[] => events.splice(0);
  return { clock, processes, end, take, deaths };
}

test('converging starts, stops and replaces by difference', async () => {
  const { processes, end, take } = container();
  processes.converge([wanted('stmgr', '1'), wanted('a'), wanted('b')]);
  assert.deepEqual(take(), ['start stmgr1', 'start a', 'start b']);
  processes.converge([wanted('stmgr', '2'), wanted('b'), wanted('c')]);
  assert.deepEqual(take(), ['SIGTERM a', 'SIGTERM stmgr', 'start c']);
  await end('stmgr');
  await end('a');
  assert.deepEqual(take(), ['start stmgr2']);
  assert.deepEqual(processes.reports.map(({ name }) => name).toSorted(), ['b', 'c', 'stmgr']);
});

test('a process that has died already can be stopped and replaced like any other', async () => {
  const { clock, processes, end, take } = container();
  processes.converge([wanted('a', '1'), wanted('b')]);
  await end('a', { code: 1 });
  await end('b', { code: 1 });
  take();
  processes.converge([wanted('a', '2')]);
  clock.advance(1_000);
  assert.deepEqual(take(), ['start a2']);
});

test('a name that leaves and comes back waits for its former process (C2)', async () => {
  const { processes, end, take } = container();
  processes.converge([wanted('a', '1')]);
  processes.converge([]);
  processes.converge([wanted('a', '2')]);
  processes.converge([]);
  processes.converge([wanted('a', '3')]);
  await settled();
  assert.deepEqual(take(), ['start a1', 'SIGTERM a']);
  await end('a');
  assert.deepEqual(take(), ['start a3']);
});

test('everything stops in stages: instances, stream manager, metrics manager (C1)', async () => {
  const { processes, end, take } = container();
  processes.converge(['metrics', 'stmgr', 'a', 'b'].map((name) => wanted(name)));
  take();
  const stopped = processes.stopAll();
  assert.deepEqual(take(), ['SIGTERM a', 'SIGTERM b']);
  await end('a');
  assert.deepEqual(take(), []);
  await end('b');
  assert.deepEqual(take(), ['SIGTERM stmgr']);
  await end('stmgr');
  assert.deepEqual(take(), ['SIGTERM metrics']);
  await end('metrics');
  await stopped;
  assert.ok(processes.reports.every(({ state }) => state === 'stopped'));
});

test('stopping all waits for those that leave and starts nothing any more', async () => {
  const { clock, processes, end, take } = container();
  processes.converge([wanted('a', '1')]);
  processes.converge([]);
  processes.converge([wanted('a', '2')]);
  let hasStopped = false;
  const stopped = processes.stopAll().then(() => (hasStopped = true));
  await settled();
  assert.equal(hasStopped, false);
  await end('a');
  await stopped;
  clock.advance(1_000_000);
  assert.deepEqual(take(), ['start a1', 'SIGTERM a']);
});

test('a death is told with the process and how it ended', async () => {
  const { processes, end, deaths } = container();
  processes.converge([wanted('stmgr'), wanted('a')]);
  await end('stmgr', { code: 73 });
  assert.deepEqual(deaths, ['stmgr 73']);
});
