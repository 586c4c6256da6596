import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Spout } from '../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

class Timed extends BasicBolt.of({ default: ['word'], unread: [] }) {
  readonly calls: string[] = [];
  readonly gate = Promise.withResolvers<void>();
  context: TopologyContext | undefined;

  override prepare(context: TopologyContext): void {
    this.context = context;
  }
  override async execute(): Promise<void> {
    this.calls.push('execute');
    await this.gate.promise;
    this.calls.push('executed');
  }
  override cleanup(): void {
    this.calls.push('cleanup');
  }
}

async function aTask() {
  const bolt = new Timed();
  const task = new TaskInTest(bolt);
  const done = task.start();
  await task.turn();
  const { context } = bolt;
  assert.ok(context);
  const pass = async (ms: number): Promise<void> => {
    task.clock.advance(ms);
    await task.turn();
  };
  return { bolt, task, context, done, pass };
}

describe('the timers of a component', () => {
  it('call again and again, or once, until they are cancelled', async () => {
    const { bolt, task, context, pass } = await aTask();
    const every = context.every(10, () => bolt.calls.push('every'));
    context.after(15, () => bolt.calls.push('after'));
    const never = context.after(15, () => bolt.calls.push('never'));
    never.cancel();
    for (let times = 0; times < 3; times += 1) await pass(10);
    every.cancel();
    await pass(50);
    assert.deepEqual(bolt.calls, ['every', 'after', 'every', 'every']);
    task.running.stop();
  });

  it('wait while a call of the component is under way, at most once', async () => {
    const { bolt, task, context, pass } = await aTask();
    context.every(10, () => bolt.calls.push('every'));
    task.feed({ tuples: [aTuple('a')] });
    await task.turn();
    for (let times = 0; times < 5; times += 1) await pass(10);
    assert.deepEqual(bolt.calls, ['execute']);
    bolt.gate.resolve();
    await task.turn();
    assert.deepEqual(bolt.calls, ['execute', 'executed', 'every']);
    await pass(10);
    assert.equal(bolt.calls.at(-1), 'every');
    task.running.stop();
  });

  it('what they emit leaves at once', async () => {
    const { bolt, task, context, pass } = await aTask();
    context.after(10, () => bolt.emit(['late']));
    await pass(10);
    assert.deepEqual(task.takeFrames(), ['default: late']);
    task.running.stop();
  });

  it('their errors end the instance as errors of the user', async () => {
    const { context, done, pass } = await aTask();
    context.after(10, () => {
      throw new RangeError('too far');
    });
    const failed = assert.rejects(done, {
      code: 'COMPONENT_FAILED',
      domain: 'user',
      message: "timer of 'middle' (task 3) failed: too far",
    });
    await pass(10);
    await failed;
  });

  it('M1: are gone when the component closes', async () => {
    const { bolt, task, context, done } = await aTask();
    context.every(10, () => bolt.calls.push('every'));
    task.running.stop();
    await task.drive(done);
    context.every(10, () => bolt.calls.push('too late'));
    task.clock.advance(100);
    await task.drive(task.running.close());
    context.after(10, () => bolt.calls.push('much too late'));
    task.clock.advance(100);
    assert.deepEqual(bolt.calls, ['cleanup']);
    assert.equal(task.clock.pendingTimers, 0);
  });

  it('of a spout go on while it is paused', async () => {
    class Paused extends Spout.of({ default: ['word'] }) {
      readonly calls: string[] = [];
      override open(context: TopologyContext): void {
        context.every(10, () => this.calls.push('every'));
      }
      override nextTuple(): void {
        this.calls.push('nextTuple');
      }
    }
    const spout = new Paused();
    const task = new TaskInTest(spout, { component: 'source' });
    void task.start(false);
    await task.turn();
    for (let times = 0; times < 3; times += 1) {
      task.clock.advance(10);
      await task.turn();
    }
    assert.deepEqual(spout.calls, ['every', 'every', 'every']);
    task.running.stop();
  });
});
