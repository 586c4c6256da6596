import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Spout } from '../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import type { BuiltTopology } from '../../../../src/api/topology.ts';
import { componentName, epoch } from '../../../../src/base/ids.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { systemFiles } from '../../../../src/base/system-files.ts';
import { GatewayPorts } from '../../../../src/instance/gateway/gateway-ports.ts';
import { Task } from '../../../../src/instance/task/task.ts';
import type { ToGateway } from '../../../../src/instance/thread-channel.ts';
import { Settings } from '../../../../src/model/settings.ts';
import { atomicsDoorbells } from '../../../../src/ring/atomics-doorbell.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';
import {
  anIdentity,
  blockingRoomWait,
  linePlan,
  takeFrames,
} from '../../../support/task-in-test.ts';

class Words extends Spout.of({ default: ['word'] }) {
  readonly calls: string[] = [];
  siblings = 0;
  opening: Promise<void> = Promise.resolve();
  next: (self: this) => void = () => {};
  atClose: () => void = () => {};

  override open(context: TopologyContext): Promise<void> {
    this.calls.push('open');
    this.siblings = context.parallelism;
    return this.opening;
  }
  override nextTuple(): void {
    this.next(this);
  }
  override activate(): void {
    this.calls.push('activate');
  }
  override deactivate(): void {
    this.calls.push('deactivate');
  }
  override close(): void {
    this.calls.push('close');
    this.atClose();
  }
}

/** A task of `source`, whose gateway is the test. */
function aTask({ load = async (built: BuiltTopology) => built } = {}) {
  const spout = new Words();
  const gateway = new GatewayPorts(new Settings(), atomicsDoorbells);
  const clock = new ManualClock();
  const sent: ToGateway[] = [];
  const failures: unknown[] = [];
  const built = {
    topology: linePlan.topology,
    factories: new Map([[componentName('source'), () => spout]]),
    customGroupings: [],
    taskHooks: [],
  };
  const task = new Task({
    identity: anIdentity('source', 1),
    clock,
    random: createSeededRandom(1),
    files: systemFiles,
    logger: silentLogger,
    doorbells: atomicsDoorbells,
    roomWait: blockingRoomWait,
    workingDirectory: '/topology',
    send: (message) => void sent.push(message),
    load: () => load(built),
    onFailed: (error) => void failures.push(error),
    onDone() {},
  });
  task.handle({ kind: 'definition', topology: linePlan.topology, memory: gateway.memory });
  const turn = async (): Promise<void> => {
    for (let round = 0; round < 4; round += 1) {
      clock.runSoon();
      await settled();
    }
  };
  const givePlan = (number: number, state: 'RUNNING' | 'PAUSED'): Promise<void> => {
    const topology = { ...linePlan.topology, state };
    task.handle({ kind: 'plan', plan: { ...linePlan, epoch: epoch(number), topology } });
    return turn();
  };
  const kinds = (): string[] => sent.map(({ kind }) => kind);
  return { task, spout, gateway, failures, sent, turn, givePlan, kinds };
}

describe('a task', () => {
  it('loads its module, opens with a plan, runs, and stops', async () => {
    const { task, spout, gateway, kinds, turn, givePlan } = aTask();
    spout.next = (self) => {
      self.emit(['a']);
      self.endOfInput();
    };
    await turn();
    assert.deepEqual(kinds(), ['loaded']);
    await givePlan(1, 'RUNNING');
    assert.deepEqual(kinds(), ['loaded', 'started', 'ended']);
    assert.deepEqual(takeFrames(gateway.dataOut), ['default: a', 'marker 2']);
    task.handle({ kind: 'stop' });
    task.handle({ kind: 'stop' });
    await turn();
    assert.deepEqual(kinds(), ['loaded', 'started', 'ended', 'stopped']);
    assert.deepEqual(spout.calls, ['open', 'close']);
  });

  it('begins in the state of the newest plan when one came while it opened', async () => {
    const { spout, givePlan, turn } = aTask();
    const gate = Promise.withResolvers<void>();
    spout.opening = gate.promise;
    await givePlan(1, 'PAUSED');
    await givePlan(2, 'RUNNING');
    let asked = 0;
    spout.next = () => {
      asked += 1;
    };
    gate.resolve();
    await turn();
    assert.ok(asked > 0);
    await givePlan(3, 'PAUSED');
    assert.deepEqual(spout.calls, ['open', 'deactivate']);
  });

  it('asks nothing of a spout whose topology is paused', async () => {
    const { spout, failures, givePlan } = aTask();
    spout.next = () => assert.fail('not while it is paused');
    await givePlan(1, 'PAUSED');
    assert.deepEqual(spout.calls, ['open']);
    assert.deepEqual(failures, []);
  });

  it('opens with the newest plan when its module took long', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, spout, givePlan, turn } = aTask({
      async load(built) {
        await gate.promise;
        return built;
      },
    });
    await givePlan(1, 'RUNNING');
    const [first, , ...others] = linePlan.instances;
    const instances = first === undefined ? others : [first, ...others];
    task.handle({ kind: 'plan', plan: { ...linePlan, epoch: epoch(2), instances } });
    gate.resolve();
    await turn();
    assert.equal(spout.siblings, 1);
  });

  it('R2: fails when the module describes another topology', async () => {
    const { failures, kinds, turn } = aTask({
      load: async (built) => ({
        ...built,
        topology: { ...built.topology, components: built.topology.components.slice(1) },
      }),
    });
    await turn();
    assert.deepEqual(kinds(), ['failed']);
    assert.match(String(failures[0]), /another topology than at submit: component 'source' is/);
  });

  it('fails once with what its component threw', async () => {
    const { spout, failures, sent, givePlan } = aTask();
    spout.next = () => assert.fail('no words');
    await givePlan(1, 'RUNNING');
    assert.equal(failures.length, 1);
    const [, , failed] = sent;
    assert.ok(failed?.kind === 'failed');
    assert.match(failed.error.message, /nextTuple of 'source' \(task 1\) failed: no words/);
  });

  it('R7: is stopped while it emits without having failed', async () => {
    const { task, spout, gateway, failures, kinds, turn, givePlan } = aTask();
    spout.next = (self) => {
      // As when the ring is full and the gateway gives up: nobody reads any more.
      gateway.closeOutput();
      for (;;) self.emit(['x'.repeat(10_000)]);
    };
    await givePlan(1, 'RUNNING');
    assert.deepEqual(kinds(), ['loaded', 'started']);
    task.handle({ kind: 'stop' });
    await turn();
    assert.deepEqual(failures, []);
    assert.deepEqual(kinds(), ['loaded', 'started', 'stopped']);
    assert.deepEqual(spout.calls, ['open', 'close']);
  });

  it('stops although its close throws', async () => {
    const { task, spout, failures, kinds, turn, givePlan } = aTask();
    spout.atClose = () => assert.fail('cannot close');
    await givePlan(1, 'RUNNING');
    task.handle({ kind: 'stop' });
    await turn();
    assert.deepEqual(failures, []);
    assert.equal(kinds().at(-1), 'stopped');
  });

  it('stops before it has a plan, and before it is open', async () => {
    const early = aTask();
    early.task.handle({ kind: 'stop' });
    await early.givePlan(1, 'RUNNING');
    assert.deepEqual(early.spout.calls, []);
    assert.equal(early.kinds().at(-1), 'stopped');

    const { task, spout, kinds, turn, givePlan } = aTask();
    const gate = Promise.withResolvers<void>();
    spout.opening = gate.promise;
    await givePlan(1, 'RUNNING');
    task.handle({ kind: 'stop' });
    await turn();
    assert.deepEqual(spout.calls, ['open'], 'one call at a time');
    gate.resolve();
    await turn();
    assert.deepEqual(spout.calls, ['open', 'close']);
    assert.deepEqual(kinds(), ['loaded', 'stopped']);
  });

  it('answers pings', () => {
    const { task, gateway } = aTask();
    task.handle({ kind: 'ping', number: 4 });
    assert.equal(gateway.status.answer, 4);
  });
});
