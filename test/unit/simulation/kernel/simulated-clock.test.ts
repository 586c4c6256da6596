import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { inThread, untilIdle } from '../../../support/in-simulated-thread.ts';

describe('a simulated clock', () => {
  it('calls once, not before the time', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    const calls: number[] = [];
    clock.after(1.0001, () => calls.push(clock.now()));
    clock.after(5, () => calls.push(-1)).cancel();
    await untilIdle(kernel);
    assert.equal(calls.length, 1);
    assert.ok((calls[0] ?? 0) >= 1.0001 && (calls[0] ?? 0) < 1.01, `${calls[0]}`);
  });

  it('calls every period until it is cancelled, also by the call', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    const calls: number[] = [];
    const timer = clock.every(10, () => {
      calls.push(Math.floor(clock.now()));
      if (calls.length === 3) timer.cancel();
    });
    await untilIdle(kernel);
    assert.deepEqual(calls, [10, 20, 30]);
  });

  it('skips periods in which the thread was busy', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const calls: number[] = [];
    const timer = thread.clock.every(10, () => {
      calls.push(Math.floor(thread.clock.now()));
      if (calls.length === 1) thread.spend(35);
      if (calls.length === 3) timer.cancel();
    });
    await untilIdle(kernel);
    assert.deepEqual(calls, [10, 45, 55]);
  });

  it('calls soon after the events that are at hand, and promise jobs before', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const ran: string[] = [];
    await inThread(kernel, thread, () => {
      thread.post(0, () => ran.push('at hand'));
      thread.clock.soon(() => ran.push('soon'));
      thread.clock.soon(() => ran.push('cancelled')).cancel();
      void Promise.resolve().then(() => ran.push('job'));
    });
    await untilIdle(kernel);
    assert.deepEqual(ran, ['job', 'at hand', 'soon']);
  });

  it('lets an idle spin with soon move time on', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    const spin = (): void => {
      if (clock.now() < 1) clock.soon(spin);
    };
    clock.soon(spin);
    await untilIdle(kernel);
    assert.ok(kernel.nowMs >= 0.99);
  });
});
