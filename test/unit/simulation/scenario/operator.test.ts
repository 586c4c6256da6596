import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultCommand, LiveCommand } from '../../../../src/simulation/faults/fault.ts';
import { type OperatedCluster, Operator } from '../../../../src/simulation/scenario/operator.ts';

/** A cluster whose commands settle when the test says so. */
class ScriptedCluster implements OperatedCluster {
  nowMs = 0;
  isGone = false;
  hasScheduler = true;
  state: string | undefined = 'RUNNING';
  readonly pids = new Map<number, number>([
    [0, 100],
    [1, 101],
  ]);
  readonly calls: string[] = [];
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  readonly command = {
    activate: () => this.#call('activate'),
    deactivate: () => this.#call('deactivate'),
    kill: () => this.#call('kill'),
    restart: (container?: number) => this.#call(`restart ${container ?? 'all'}`),
    repair: () => this.#call('repair'),
  };

  changed = false;

  async change({ command }: LiveCommand): Promise<() => boolean> {
    await this.#call(command);
    return () => this.changed;
  }

  topologyState(): string | undefined {
    return this.state;
  }

  executors(): ReadonlyMap<number, number> {
    return new Map(this.pids);
  }

  /** The command that runs returns. */
  async settle(error?: Error): Promise<void> {
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (error === undefined) resolve();
      else reject(error);
    }
    await turns();
  }

  #call(name: string): Promise<void> {
    this.calls.push(name);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

const order = (
  command: 'activate' | 'deactivate' | 'kill' | 'restart',
  container?: number,
): FaultCommand =>
  command === 'restart'
    ? { atMs: 0, kind: 'command', command, ...(container === undefined ? {} : { container }) }
    : { atMs: 0, kind: 'command', command };

function operating({ startsActive = true } = {}) {
  const cluster = new ScriptedCluster();
  return { cluster, operator: new Operator(cluster, { startsActive }) };
}

test('commands are given one after the other (O1)', async () => {
  const { cluster, operator } = operating();
  operator.give(order('deactivate'));
  operator.give(order('restart', 1));
  await turns();
  assert.deepEqual(cluster.calls, ['deactivate']);
  cluster.nowMs = 40;
  await cluster.settle();
  assert.deepEqual(cluster.calls, ['deactivate', 'restart 1']);
  const [first, second] = operator.records;
  assert.deepEqual(first, {
    command: 'deactivate',
    givenAtMs: 0,
    returnedAtMs: 40,
    error: undefined,
    reachedAtMs: undefined,
  });
  assert.equal(second?.givenAtMs, 40);
  assert.equal(second?.returnedAtMs, undefined);
});

test('what a command asks for is noted when it is first seen', async () => {
  const { cluster, operator } = operating();
  operator.give(order('deactivate'));
  await turns();
  operator.look();
  cluster.state = 'PAUSED';
  cluster.nowMs = 7;
  operator.look();
  cluster.nowMs = 9;
  operator.look();
  assert.equal(operator.records[0]?.reachedAtMs, 7);
});

test('a restart is reached when other executors live', async () => {
  const { cluster, operator } = operating();
  operator.give(order('restart'));
  await turns();
  cluster.pids.set(0, 200);
  operator.look();
  cluster.pids.delete(1);
  operator.look();
  assert.equal(operator.records[0]?.reachedAtMs, undefined);
  cluster.pids.set(1, 201);
  operator.look();
  assert.equal(operator.records[0]?.reachedAtMs, 0);
});

test('the error of a command is kept, and the next one is given', async () => {
  const { cluster, operator } = operating();
  operator.give(order('activate'));
  operator.give(order('kill'));
  await turns();
  await cluster.settle(new Error('no master'));
  assert.equal(operator.records[0]?.error, 'no master');
  assert.deepEqual(cluster.calls, ['activate', 'kill']);
  assert.equal(operator.killedFromMs, 0);
});

test('nothing is given to a topology that is gone', async () => {
  const { cluster, operator } = operating();
  cluster.isGone = true;
  operator.give(order('deactivate'));
  operator.tidyUp();
  await turns();
  assert.deepEqual(cluster.calls, []);
  assert.deepEqual(operator.records, []);
});

test('a dead scheduler is brought back until it has worked (O2)', async () => {
  const { cluster, operator } = operating();
  cluster.hasScheduler = false;
  operator.tidyUp();
  operator.tidyUp();
  await turns();
  assert.deepEqual(cluster.calls, ['repair'], 'one at a time');
  await cluster.settle(new Error('the store is away'));
  assert.deepEqual(cluster.calls, ['repair'], 'the second look found one under way');
  operator.tidyUp();
  await turns();
  assert.deepEqual(cluster.calls, ['repair', 'repair']);
});

test('a topology that is paused at the end is activated (O2)', async () => {
  const paused = operating({ startsActive: false });
  paused.operator.tidyUp();
  await turns();
  assert.deepEqual(paused.cluster.calls, ['activate']);

  const seen = operating();
  seen.cluster.state = 'PAUSED';
  seen.operator.tidyUp();
  await turns();
  assert.deepEqual(seen.cluster.calls, ['activate']);
});

test('a kill that failed is given again (O2)', async () => {
  const { cluster, operator } = operating();
  operator.give(order('kill'));
  await turns();
  await cluster.settle(new Error('processes are left'));
  operator.tidyUp();
  await turns();
  assert.deepEqual(cluster.calls, ['kill', 'kill']);
});

test('nothing is done where nothing is wrong', async () => {
  const { cluster, operator } = operating();
  operator.tidyUp();
  await turns();
  assert.deepEqual(cluster.calls, []);
});

test('a change of the topology is given at its time, whatever else is under way (O1)', async () => {
  const { cluster, operator } = operating();
  operator.give(order('deactivate'));
  await turns();
  operator.give({ atMs: 0, kind: 'command', command: 'resize', containers: 2 });
  await turns();
  assert.deepEqual(cluster.calls, ['deactivate', 'resize']);
  await cluster.settle();
  cluster.nowMs = 50;
  operator.look();
  assert.equal(operator.records[1]?.reachedAtMs, undefined);
  cluster.changed = true;
  operator.look();
  assert.equal(operator.records[1]?.reachedAtMs, 50);
});
