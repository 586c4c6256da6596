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

const SILENCE_MS = 10_000;

/** Runs fake processes and writes down what is done to them. */
function container() {
  const clock = new ManualClock();
  const events: string[] = [];
  const running = new Map<string, (ending: Partial<Ending>) => void>();
  const deaths: string[] = [];
  const beats = new Map<string, number>();
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
      return {
        pid: 1,
        ended,
        signal: (signal) => events.push(`${signal} ${name}`),
        beats: () => beats.get(name) ?? 0,
      };
    },
    onDeath: ({ name }, { code }) => deaths.push(`${name} ${code}`),
    history: new Map(),
    policy: { backoffMinMs: 100, backoffMaxMs: 400, attemptsMax: 3, healthyAfterMs: 60_000 },
    graceMs: 5_000,
    silenceMs: SILENCE_MS,
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
  /** Time passes, in which these beat and the others do not. */
  const pass = (ms: number, beating: string): void => {
    for (let passedMs = 0; passedMs < ms; passedMs += 100) {
      for (const name of beating.split(' ')) beats.set(name, (beats.get(name) ?? 0) + 1);
      clock.advance(100);
    }
  };
  return { clock, processes, end, take, pass, deaths };
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

test('a difference in volatile parts waits for the next start', async () => {
  const { clock, processes, end, take } = container();
  processes.converge([wanted('stmgr', '--instance-ids=a'), wanted('a', '--component-index=0')]);
  take();
  processes.converge([wanted('stmgr', '--instance-ids=a,b'), wanted('a', '--component-index=1')]);
  assert.deepEqual(take(), []);
  await end('stmgr', { code: 1 });
  await end('a', { code: 1 });
  clock.advance(1_000);
  assert.deepEqual(take(), ['start stmgr--instance-ids=a,b', 'start a--component-index=1']);
});

test('a container that left the plan ends its processes in stages (C1)', async () => {
  const { processes, end, take } = container();
  processes.converge(['metrics', 'stmgr', 'a', 'b'].map((name) => wanted(name)));
  take();
  processes.converge([]);
  assert.deepEqual(take(), ['SIGTERM a', 'SIGTERM b']);
  assert.deepEqual(processes.reports, []);
  await end('b');
  await end('a');
  assert.deepEqual(take(), ['SIGTERM stmgr']);
  await end('stmgr');
  assert.deepEqual(take(), ['SIGTERM metrics']);
  await end('metrics');
  assert.deepEqual(take(), []);
});

test('a container that comes back to the plan in the middle of that waits its turn', async () => {
  const { processes, end, take } = container();
  processes.converge(['stmgr', 'a'].map((name) => wanted(name)));
  processes.converge([]);
  processes.converge(['stmgr', 'b'].map((name) => wanted(name)));
  assert.deepEqual(take(), ['start stmgr', 'start a', 'SIGTERM a', 'start b']);
  await end('a');
  assert.deepEqual(take(), ['SIGTERM stmgr']);
  await end('stmgr');
  assert.deepEqual(take(), ['start stmgr']);
});

test('a process that has died when an update stops it counts as stopped (O26)', async () => {
  const { clock, processes, end, take, deaths } = container();
  processes.converge(['stmgr', 'a', 'b'].map((name) => wanted(name)));
  await end('a', { code: 1 }); // Just before: it is in its back-off.
  take();
  processes.converge([wanted('stmgr')]);
  assert.deepEqual(take(), ['SIGTERM b']);
  await end('b', { signal: 'SIGKILL' }); // In the middle: not by what stops it.
  clock.advance(1_000_000);
  assert.deepEqual(deaths, ['a 1']);
  assert.deepEqual(
    processes.reports.map(({ name, state }) => `${name} ${state}`),
    ['stmgr running'],
  );
});

test('a process that hangs is killed and started again, the others go on (C3, O14)', async () => {
  const { clock, processes, end, take, pass } = container();
  processes.converge(['stmgr', 'a', 'b'].map((name) => wanted(name)));
  pass(1_000, 'stmgr a b');
  take();
  pass(SILENCE_MS - 100, 'stmgr b');
  assert.deepEqual(take(), []);
  pass(1_000, 'stmgr b');
  assert.deepEqual(take(), ['SIGKILL a']);
  await end('a', { signal: 'SIGKILL' });
  const report = processes.reports.find(({ name }) => name === 'a');
  assert.match(report?.lastExit?.reason ?? '', /^hung: .* 10\d00 ms, and its executor killed it$/);
  clock.advance(100);
  assert.deepEqual(take(), ['start a']);
});

test('an executor that was away itself kills nobody at once (O21)', () => {
  const { processes, take, pass } = container();
  processes.converge(['stmgr', 'a', 'b'].map((name) => wanted(name)));
  pass(1_000, 'stmgr a b');
  take();
  // Nothing of all of them is heard at once; afterwards one of them stays silent.
  pass(SILENCE_MS + 1_000, '');
  assert.deepEqual(take(), []);
  pass(SILENCE_MS - 2_000, 'stmgr a');
  assert.deepEqual(take(), []);
  pass(1_000, 'stmgr a');
  assert.deepEqual(take(), ['SIGKILL b']);
});

test('what is being stopped is not killed for its silence before its grace', () => {
  const { processes, take, pass } = container();
  processes.converge(['stmgr', 'a'].map((name) => wanted(name)));
  pass(SILENCE_MS, 'stmgr a');
  processes.converge([wanted('stmgr')]);
  take();
  pass(4_900, 'stmgr');
  assert.deepEqual(take(), []);
  pass(200, 'stmgr');
  assert.deepEqual(take(), ['SIGKILL a']);
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
