import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { WallClock } from '../../../../src/simulation/kernel/simulated-time.ts';
import { inThread, untilIdle } from '../../../support/in-simulated-thread.ts';

describe('a simulated thread', () => {
  it('takes as long as it spends, and lets its events wait in order', async () => {
    const kernel = new Kernel({ seed: 1 });
    const [busy, free] = [kernel.createThread('busy'), kernel.createThread('free')];
    const ran: string[] = [];
    const note = (what: string) => (): void => {
      ran.push(`${what} at ${Math.floor(kernel.nowMs)}`);
    };
    // Made in another order than they are due in.
    busy.post(3, note('third'));
    busy.post(2, note('second'));
    free.post(2, note('free'));
    busy.post(1, () => {
      note('first')();
      busy.spend(10);
      note('first after work')();
    });
    busy.post(20, note('last'));
    await untilIdle(kernel);
    assert.deepEqual(ran, [
      'first at 1',
      'first after work at 11',
      'free at 2',
      'second at 11',
      'third at 11',
      'last at 20',
    ]);
  });

  it('spends on promise jobs too', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const times: number[] = [];
    const work = async (): Promise<void> => {
      await Promise.resolve();
      thread.spend(5);
    };
    thread.post(0, () => void work());
    thread.post(1, () => times.push(Math.floor(kernel.nowMs)));
    await untilIdle(kernel);
    assert.deepEqual(times, [5]);
  });

  it('can be kept busy from outside, also while an event waits', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const times: number[] = [];
    thread.post(0, () => thread.spend(5));
    thread.post(1, () => times.push(Math.floor(kernel.nowMs)));
    kernel.at(2, () => thread.spend(10));
    await untilIdle(kernel);
    assert.deepEqual(times, [15]);
  });

  it('sends from its own time, not from the time of its event', async () => {
    const kernel = new Kernel({ seed: 1 });
    const [sender, receiver] = [kernel.createThread('sender'), kernel.createThread('receiver')];
    let gotAtMs = 0;
    sender.post(0, () => {
      sender.spend(7);
      receiver.post(1, () => {
        gotAtMs = kernel.nowMs;
      });
    });
    await untilIdle(kernel);
    assert.equal(Math.floor(gotAtMs), 8);
  });

  it('is paid for looks at the clock, so that a loop that waits for it ends', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    await inThread(kernel, kernel.createThread('other'), () => {});
    const thread = kernel.createThread('t');
    const looks = await inThread(kernel, thread, () => {
      const endMs = thread.clock.now() + 1;
      let count = 0;
      while (thread.clock.now() < endMs) count += 1;
      return count;
    });
    assert.ok(looks > 900 && looks <= 1000, `${looks}`);
    assert.equal(clock.now(), clock.now(), 'from outside it costs nothing');
  });

  it('never sees its clock step back, also from outside while it is busy', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    let insideMs = 0;
    let outsideMs = 0;
    thread.post(0, () => {
      thread.spend(10);
      insideMs = thread.clock.now();
    });
    kernel.at(5, () => {
      outsideMs = thread.clock.now();
      assert.equal(thread.isBusy, true);
    });
    await untilIdle(kernel);
    assert.ok(outsideMs >= insideMs, `${outsideMs} < ${insideMs}`);
  });

  it('keeps its events while it is paused, and runs them in order afterwards', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const ran: string[] = [];
    thread.post(2, () => ran.push(`b ${Math.floor(kernel.nowMs)}`));
    thread.post(1, () => ran.push(`a ${Math.floor(kernel.nowMs)}`));
    const cancelled = thread.post(1.5, () => ran.push('cancelled'));
    kernel.at(0.5, () => thread.pause());
    kernel.at(3, () => cancelled.cancel());
    kernel.at(4, () => assert.deepEqual([thread.state, ran], ['paused', []]));
    kernel.at(10, () => thread.resume());
    thread.post(10, () => ran.push('c'));
    await untilIdle(kernel);
    assert.deepEqual(ran, ['a 10', 'b 10', 'c']);
  });

  it('stops within a line of waiting events when one of them pauses it', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const ran: string[] = [];
    thread.post(0, () => thread.spend(5));
    thread.post(1, () => {
      ran.push('a');
      thread.pause();
    });
    thread.post(2, () => ran.push('b'));
    await untilIdle(kernel);
    assert.deepEqual(ran, ['a']);
    thread.resume();
    await untilIdle(kernel);
    assert.deepEqual(ran, ['a', 'b']);
  });

  it('runs nothing and takes nothing once it is dead', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const ran: string[] = [];
    thread.post(0, () => thread.spend(5));
    thread.post(1, () => ran.push('waiting'));
    thread.post(100, () => ran.push('due later'));
    let told = 0;
    thread.attach({ onThreadKilled: () => (told += 1) });
    kernel.at(2, () => {
      thread.kill();
      thread.kill();
      thread.resume();
      thread.post(1, () => ran.push('posted after'));
    });
    await untilIdle(kernel);
    assert.deepEqual([ran, told, thread.state], [[], 1, 'dead']);
    assert.ok(kernel.nowMs < 10, 'no time passes for the events of the dead');
  });

  it('hangs after it has spent for ever, and can still be killed', async () => {
    const kernel = new Kernel({ seed: 1 });
    const [thread, other] = [kernel.createThread('t'), kernel.createThread('other')];
    const ran: string[] = [];
    thread.post(0, () => {
      thread.spend(Number.POSITIVE_INFINITY);
      other.post(1, () => ran.push('sent after the end of time'));
      thread.clock.after(1, () => ran.push('own timer'));
    });
    thread.post(1, () => ran.push('waiting'));
    await untilIdle(kernel);
    assert.deepEqual([ran, thread.isHanging], [[], true]);
    thread.kill();
    assert.equal(thread.isHanging, false);
  });

  it('has the wall clock of its machine, which may be set both ways', async () => {
    const kernel = new Kernel({ seed: 1 });
    const wallClock = new WallClock(1_000_000);
    const thread = kernel.createThread('t', wallClock);
    await kernel.advance(50);
    const read = (): Promise<readonly number[]> =>
      inThread(kernel, thread, () => [thread.clock.wallNow(), Math.floor(thread.clock.now())]);
    assert.deepEqual(await read(), [1_000_050, 50]);
    wallClock.step(-2000);
    assert.deepEqual(await read(), [998_050, 50]);
    wallClock.step(5000);
    assert.deepEqual(await read(), [1_003_050, 50]);
  });
});
