import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import type { Ending, ProcessHandle } from '../../../src/supervision/process-handle.ts';
import {
  SupervisedProcess,
  type SupervisedProcessOptions,
} from '../../../src/supervision/supervised-process.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A process of which the test decides when and how it ends. */
class FakeProcess implements ProcessHandle {
  readonly signals: string[] = [];
  readonly ended: Promise<Ending>;
  readonly pid: number;
  readonly ready: Promise<void>;
  /** What `beats` says. */
  beaten = 0;
  readonly beats = (): number => this.beaten;
  /** Says that it does its work. */
  sayReady: () => void = () => {};
  #settle: (ending: Ending) => void = () => {};

  constructor(pid: number) {
    this.pid = pid;
    this.ready = new Promise((resolve) => {
      this.sayReady = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.signals.push(name);
  }

  async end(ending: Partial<Ending> = {}): Promise<void> {
    this.#settle({ code: null, signal: null, lastLines: [], ...ending });
    await this.ended;
    await Promise.resolve();
  }
}

function supervise(options: Partial<SupervisedProcessOptions> = {}) {
  const clock = new ManualClock();
  const started: FakeProcess[] = [];
  const supervised = new SupervisedProcess({
    name: 'stmgr-1',
    policy: { backoffMinMs: 100, backoffMaxMs: 400, attemptsMax: 3, healthyAfterMs: 60_000 },
    graceMs: 5_000,
    clock,
    random: { ...createSeededRandom(1), below: () => 0 },
    logger: silentLogger,
    onChange: () => {},
    ...options,
  });
  const launch = (): FakeProcess => {
    const fake = new FakeProcess(101 + started.length);
    started.push(fake);
    return fake;
  };
  const current = (): FakeProcess => {
    const fake = started.at(-1);
    assert.ok(fake !== undefined);
    return fake;
  };
  return { supervised, clock, launch, started, current };
}

test('a process that dies is started again after the back-off, with its reason kept', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  assert.deepEqual(supervised.report, {
    name: 'stmgr-1',
    pid: 101,
    state: 'running',
    restarts: 0,
    startedAtMs: clock.wallNow(),
  });
  clock.advance(10);
  await current().end({ code: 7, lastLines: ['why'] });
  assert.equal(supervised.report.state, 'restarting');
  assert.equal(supervised.report.pid, null);
  clock.advance(99);
  assert.equal(started.length, 1);
  clock.advance(1);
  const { state, pid, restarts, lastExit } = supervised.report;
  assert.deepEqual({ state, pid, restarts }, { state: 'running', pid: 102, restarts: 1 });
  assert.deepEqual(lastExit, {
    code: 7,
    signal: null,
    atMs: 1_700_000_000_010,
    reason: 'ended with code 7',
    lastLines: ['why'],
  });
});

test('a process that keeps dying is given up, and says so', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  for (const delayMs of [100, 200, 400]) {
    await current().end({ code: 1 });
    clock.advance(delayMs - 1);
    const before = started.length;
    clock.advance(1);
    assert.equal(started.length, before + 1, `started again after exactly ${delayMs} ms`);
  }
  await current().end({ code: 1 });
  clock.advance(1_000_000);
  assert.equal(started.length, 4);
  assert.equal(supervised.report.state, 'failed');
  assert.equal(supervised.report.pid, null);
  assert.equal(clock.pendingTimers, 0);
});

test('a minute of health makes the next death the first', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  for (let round = 0; round < 20; round += 1) {
    clock.advance(60_000);
    await current().end({ signal: 'SIGSEGV' });
    clock.advance(100);
  }
  assert.equal(started.length, 21);
  assert.equal(supervised.report.state, 'running');
});

test('what cannot be started is a death as well', async () => {
  const { supervised, launch, current } = supervise();
  supervised.start(launch);
  await current().end({ startProblem: 'no such file' });
  assert.equal(supervised.report.lastExit?.reason, 'no such file');
  assert.equal(supervised.report.state, 'restarting');
});

test('stop asks first and kills after the grace time; nothing is started then (S3)', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  const stopped = supervised.stop();
  clock.advance(4_999);
  assert.deepEqual(current().signals, ['SIGTERM']);
  clock.advance(1);
  assert.deepEqual(current().signals, ['SIGTERM', 'SIGKILL']);
  await current().end({ signal: 'SIGKILL' });
  await stopped;
  clock.advance(1_000_000);
  assert.equal(started.length, 1);
  assert.equal(supervised.report.state, 'stopped');
  assert.equal(supervised.report.lastExit, undefined, 'an end that was asked for is no incident');
  assert.equal(clock.pendingTimers, 0);
});

test('stop is content with a process that is gone already', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  await current().end({ code: 1 });
  await supervised.stop();
  clock.advance(1_000_000);
  assert.equal(started.length, 1);
  await supervised.stop();
  assert.equal(supervised.report.state, 'stopped');
});

test('stop does not wait for ever for a process that the kernel holds', async () => {
  const { supervised, clock, launch } = supervise();
  supervised.start(launch);
  const stopped = supervised.stop();
  clock.advance(5_000 + 10_000);
  await stopped;
});

test('restart starts the next incarnation only when the last one is gone (S1)', async () => {
  const { supervised, launch, started, current } = supervise();
  supervised.start(launch);
  supervised.restart();
  assert.equal(started.length, 1);
  assert.deepEqual(current().signals, ['SIGTERM']);
  await current().end({ code: 0 });
  assert.equal(started.length, 2);
  assert.equal(supervised.report.restarts, 1);
  assert.match(supervised.report.lastExit?.reason ?? '', /to be started anew/);
});

test('restarts in a row cost one incarnation; a restart wins over an earlier stop', async () => {
  const { supervised, launch, started, current } = supervise();
  supervised.start(launch);
  void supervised.stop();
  supervised.restart();
  supervised.restart();
  await current().end({ code: 0 });
  assert.equal(started.length, 2);
});

test('stop wins over a restart that is under way', async () => {
  const { supervised, launch, started, current } = supervise();
  supervised.start(launch);
  supervised.restart();
  const stopped = supervised.stop();
  await current().end({ code: 0 });
  await stopped;
  assert.equal(started.length, 1);
  assert.equal(supervised.report.state, 'stopped');
});

test('restart gives a failed process another chance', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  for (let death = 0; death < 4; death += 1) {
    await current().end({ code: 1 });
    clock.advance(400);
  }
  assert.equal(supervised.report.state, 'failed');
  supervised.restart();
  assert.equal(started.length, 5);
  assert.equal(supervised.report.state, 'running');
  await current().end({ code: 1 });
  assert.equal(supervised.report.state, 'restarting', 'earlier deaths do not count any more');
});

test('history of an earlier supervisor goes on: starting again is a restart', () => {
  const lastExit = {
    code: null,
    signal: null,
    atMs: 5,
    reason: 'its executor died',
    lastLines: [],
  };
  const { supervised, launch } = supervise({ history: { restarts: 4, lastExit } });
  supervised.start(launch);
  assert.equal(supervised.report.restarts, 5);
  assert.deepEqual(supervised.report.lastExit, lastExit);
});

test('the moment at which a process does its work is reported, until its end', async () => {
  let changes = 0;
  const { supervised, clock, launch, started, current } = supervise({
    onChange: () => {
      changes += 1;
    },
  });
  supervised.start(launch);
  const first = current();
  assert.equal(supervised.report.readyAtMs, undefined);
  const changesBefore = changes;
  clock.advance(5);
  first.sayReady();
  await first.ready;
  await Promise.resolve();
  assert.equal(supervised.report.readyAtMs, clock.wallNow());
  assert.equal(changes, changesBefore + 1);
  await first.end({ code: 1 });
  assert.equal(supervised.report.readyAtMs, undefined);
  clock.advance(400);
  assert.equal(started.length, 2);
  assert.equal(supervised.report.readyAtMs, undefined, 'the next one has not said so yet');
  current().sayReady();
  await current().ready;
  await Promise.resolve();
  supervised.restart();
  await current().end();
  assert.equal(started.length, 3);
  assert.equal(supervised.report.readyAtMs, undefined, 'nor has the one that replaced it');
});

test('what hangs is killed, and started again with that reason (O14)', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  supervised.kill('it hung');
  assert.deepEqual(current().signals, ['SIGKILL']);
  assert.equal(supervised.report.state, 'running', 'it has not gone yet');
  await current().end({ signal: 'SIGKILL' });
  assert.equal(supervised.report.lastExit?.reason, 'it hung');
  clock.advance(100);
  assert.equal(started.length, 2);
  await current().end({ signal: 'SIGKILL' });
  assert.match(supervised.report.lastExit?.reason ?? '', /^killed by SIGKILL/, 'that was another');
});

test('what does not run is not killed', async () => {
  const { supervised, launch, started, current } = supervise();
  supervised.start(launch);
  await current().end({ code: 1 });
  supervised.kill('it hung');
  assert.deepEqual(started[0]?.signals, []);
  assert.equal(supervised.report.lastExit?.reason, 'ended after an unexpected failure (code 1)');
});

test('the sign of life is that of the incarnation at hand', async () => {
  const { supervised, clock, launch, current } = supervise();
  assert.equal(supervised.sign, undefined);
  supervised.start(launch);
  assert.deepEqual(supervised.sign, { life: 1, beat: 0, hasBegun: false });
  current().beaten = 3;
  assert.deepEqual(supervised.sign, { life: 1, beat: 3, hasBegun: true });
  await current().end({ code: 1 });
  assert.equal(supervised.sign, undefined);
  assert.equal(supervised.life, undefined);
  clock.advance(100);
  assert.deepEqual(supervised.sign, { life: 2, beat: 0, hasBegun: false });
  void supervised.stop();
  assert.equal(supervised.sign, undefined, 'its grace time is its limit now');
});

test('what cannot be started is never given up', async () => {
  const { supervised, clock, launch, started, current } = supervise();
  supervised.start(launch);
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    await current().end({ startProblem: 'the disk is full' });
    clock.advance(400);
    assert.equal(started.length, attempt + 1);
  }
  assert.equal(supervised.report.state, 'running');
});
