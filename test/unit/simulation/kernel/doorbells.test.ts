import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimulatedDoorbells } from '../../../../src/simulation/kernel/doorbells.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { inThread, untilIdle } from '../../../support/in-simulated-thread.ts';

function twoThreads() {
  const kernel = new Kernel({ seed: 1 });
  const doorbells = new SimulatedDoorbells();
  const [sleeper, ringer] = [kernel.createThread('sleeper'), kernel.createThread('ringer')];
  const own = doorbells.of(sleeper)();
  // What comes by message is another object over the same bytes.
  const distant = doorbells.of(ringer)(structuredClone(own.memory));
  return { kernel, doorbells, sleeper, ringer, own, distant };
}

describe('a simulated doorbell', () => {
  it('wakes its sleeper in an event of the sleeper', async () => {
    const { kernel, sleeper, ringer, own, distant } = twoThreads();
    const heard: string[] = [];
    ringer.post(5, () => distant.ring());
    await inThread(kernel, sleeper, async () => {
      await Promise.all([own.wait(own.sequence()), own.wait(own.sequence())]);
      heard.push(`${kernel.runningThread?.name} at ${Math.floor(kernel.nowMs)}`);
    });
    assert.deepEqual(heard, ['sleeper at 5']);
  });

  it('does not let it sleep when it rang since', async () => {
    const { kernel, sleeper, own, distant } = twoThreads();
    await inThread(kernel, sleeper, async () => {
      const seen = own.sequence();
      distant.ring();
      await own.wait(seen);
      assert.equal(own.sequence(), seen + 1);
    });
  });

  it('is not rung by others, nor by the dead', async () => {
    const { kernel, doorbells, sleeper, ringer, own, distant } = twoThreads();
    let isAwake = false;
    sleeper.post(0, () => {
      void own.wait(own.sequence()).then(() => {
        isAwake = true;
      });
    });
    doorbells.of(ringer)().ring();
    await untilIdle(kernel);
    ringer.kill();
    distant.ring();
    await untilIdle(kernel);
    assert.equal(isAwake, false);
  });

  it('never wakes a sleeper that has died, before or during its sleep', async () => {
    const { kernel, sleeper, own, distant } = twoThreads();
    let woken = 0;
    const sleep = (seen: number): void => void own.wait(seen).then(() => (woken += 1));
    sleeper.post(0, () => sleep(own.sequence()));
    await untilIdle(kernel);
    sleeper.kill();
    distant.ring();
    sleep(own.sequence() - 1);
    sleep(own.sequence());
    distant.ring();
    await untilIdle(kernel);
    assert.equal(woken, 0);
  });

  it('cannot block', () => {
    const { own } = twoThreads();
    assert.throws(() => own.waitBlocking(0, 1), /nothing blocks/);
  });
});
