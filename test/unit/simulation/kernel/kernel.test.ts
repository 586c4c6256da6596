import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import type { FailureKind } from '../../../../src/simulation/kernel/simulated-thread.ts';
import { inThread, untilIdle } from '../../../support/in-simulated-thread.ts';

const LIMITS = { simulatedMsMax: 60_000, eventsMax: 100_000 };

/** Threads that send each other messages, await, draw, sleep, fail and write to the log. */
async function busyWorld(
  seed: number,
  options: { readonly isSlow?: boolean } = {},
): Promise<Kernel> {
  const kernel = new Kernel({ seed, ...options });
  const threads = Array.from({ length: 8 }, (_, n) => kernel.createThread(`thread-${n}`));
  const random = kernel.random('messages');
  let messages = 0;
  const receive = async (at: number, hops: number): Promise<void> => {
    const thread = threads[at];
    if (thread === undefined) return;
    messages += 1;
    kernel.log.add(thread.name, `gets a message with ${hops} hops to go`);
    thread.spend(random.below(1000) / 100);
    for (let job = random.below(4); job > 0; job -= 1) await Promise.resolve();
    await new Promise<void>((resolve) => {
      thread.clock.after(random.below(5), resolve);
    });
    if (random.below(20) === 0) throw new Error('a message that nobody expected');
    if (hops === 0) return;
    for (let copies = random.below(3); copies > 0; copies -= 1) send(hops - 1);
  };
  const send = (hops: number): void => {
    const to = random.below(threads.length);
    threads[to]?.post(random.below(100) / 10, () => void receive(to, hops));
  };
  for (const thread of threads) {
    thread.onFailure = (error, kind) => kernel.log.add(thread.name, `${kind}: ${String(error)}`);
  }
  for (let count = 0; count < 50; count += 1) send(10);
  await untilIdle(kernel);
  assert.ok(messages > 100);
  return kernel;
}

describe('a seed', () => {
  it('decides every byte of the log', async () => {
    const [one, again, other] = [await busyWorld(1), await busyWorld(1), await busyWorld(2)];
    assert.equal(one.log.text, again.log.text);
    assert.equal(one.log.hash, again.log.hash);
    assert.match(one.log.text, /rejection: Error: a message that nobody expected/);
    assert.notEqual(one.log.text, other.log.text);
    assert.notEqual(one.log.hash, other.log.hash);
  });

  it('means the same when promise jobs are run by the real event loop', async () => {
    const [quick, slow] = [await busyWorld(3), await busyWorld(3, { isSlow: true })];
    assert.equal(slow.log.text, quick.log.text);
    assert.equal(slow.log.hash, quick.log.hash);
  });
});

describe('a run', () => {
  it('lets all promise jobs and ticks of an event run before the next event', async () => {
    const kernel = new Kernel({ seed: 1 });
    const ran: string[] = [];
    const chain = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      process.nextTick(() => {
        ran.push('tick');
        void Promise.resolve().then(() => ran.push('job of a tick'));
      });
      ran.push('chain');
    };
    kernel.at(1, () => void chain());
    kernel.at(1, () => ran.push('next'));
    await untilIdle(kernel);
    assert.deepEqual(ran, ['chain', 'tick', 'job of a tick', 'next']);
  });

  it('ends as soon as its condition holds, and goes on later', async () => {
    const kernel = new Kernel({ seed: 1 });
    const ran: number[] = [];
    for (const at of [3, 1, 2]) kernel.at(at, () => ran.push(at));
    assert.equal(await kernel.run(() => ran.length === 2, LIMITS), 'reached');
    assert.deepEqual(ran, [1, 2]);
    assert.equal(kernel.nowMs, 2);
    await untilIdle(kernel);
    assert.deepEqual(ran, [1, 2, 3]);
  });

  it('ends at its limit of time, which counts from its start', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    clock.every(10, () => {});
    const limits = { simulatedMsMax: 95, eventsMax: 1000 };
    assert.equal(await kernel.run(() => false, limits), 'time');
    assert.equal(kernel.nowMs, 95);
    assert.equal(await kernel.run(() => false, limits), 'time');
    assert.equal(kernel.nowMs, 190);
  });

  it('ends at its limit of events', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    const spin = (): void => void clock.soon(spin);
    spin();
    const limits = { simulatedMsMax: 60_000, eventsMax: 1000 };
    assert.equal(await kernel.run(() => false, limits), 'events');
    assert.equal(kernel.events, 1000);
  });

  it('can pass time in which nothing happens', async () => {
    const kernel = new Kernel({ seed: 1 });
    assert.equal(await kernel.advance(40), 'idle');
    assert.equal(kernel.nowMs, 40);
  });

  it('leaves the real event loop its turns', async () => {
    const kernel = new Kernel({ seed: 1 });
    const { clock } = kernel.createThread('t');
    const spin = (): void => void clock.soon(spin);
    spin();
    let isTold = false;
    kernel.at(0, () => {
      setImmediate(() => {
        isTold = true;
      });
    });
    const limits = { simulatedMsMax: 60_000, eventsMax: 10_000 };
    assert.equal(await kernel.run(() => isTold, limits), 'reached');
  });
});

describe('what goes wrong in an event', () => {
  async function failuresOf(
    fail: () => void,
    options: { readonly isSlow?: boolean } = {},
  ): Promise<readonly string[]> {
    const kernel = new Kernel({ seed: 1, ...options });
    const [failing, other] = [kernel.createThread('failing'), kernel.createThread('other')];
    const failures: string[] = [];
    for (const thread of [failing, other]) {
      thread.onFailure = (error: unknown, kind: FailureKind) => {
        failures.push(`${thread.name}, ${kind}: ${(error as Error).message}`);
      };
    }
    failing.post(1, fail);
    other.post(1, () => {});
    other.post(2, () => failures.push('goes on'));
    await untilIdle(kernel);
    return failures;
  }

  const reject = (): void => void Promise.reject(new Error('lost'));
  const rejectLater = async (): Promise<void> => {
    await Promise.resolve();
    throw new Error('late');
  };
  const WAYS = [
    { what: 'what it throws', fail: () => assert.fail('thrown'), told: 'exception: thrown' },
    { what: 'a rejection that nobody handles', fail: reject, told: 'rejection: lost' },
    { what: 'one of its promise jobs', fail: () => void rejectLater(), told: 'rejection: late' },
    {
      what: 'what a microtask throws',
      fail: () =>
        queueMicrotask(() => {
          throw new Error('micro');
        }),
      told: 'exception: micro',
    },
    {
      what: 'what a tick throws',
      fail: () =>
        process.nextTick(() => {
          throw new Error('tick');
        }),
      told: 'exception: tick',
    },
  ];
  for (const { what, fail, told } of WAYS) {
    it(`concerns its thread: ${what}`, async () => {
      assert.deepEqual(await failuresOf(fail), [`failing, ${told}`, 'goes on']);
    });
    it(`concerns its thread, by the real event loop too: ${what}`, async () => {
      const failures = await failuresOf(fail, { isSlow: true });
      assert.deepEqual(failures, [`failing, ${told}`, 'goes on']);
    });
  }

  it('does not concern who handles a rejection in time', async () => {
    const handle = async (): Promise<void> => {
      const lost = Promise.reject(new Error('lost'));
      await Promise.resolve();
      await assert.rejects(lost);
    };
    assert.deepEqual(await failuresOf(() => void handle()), ['goes on']);
  });

  it('ends the run when nobody cares for the thread, or no thread ran', async () => {
    for (const fail of [() => assert.fail('thrown'), reject]) {
      const kernel = new Kernel({ seed: 1 });
      kernel.createThread('t').post(1, fail);
      await assert.rejects(untilIdle(kernel), /thrown|lost/);
    }
    const kernel = new Kernel({ seed: 1 });
    kernel.at(1, () => assert.fail('a fault of a fault'));
    await assert.rejects(untilIdle(kernel), /a fault of a fault/);
  });

  it('ends the run when the condition or the care for a failure fails', async () => {
    const kernel = new Kernel({ seed: 1 });
    kernel.at(1, () => {});
    const condition = (): boolean => assert.fail('in the condition');
    await assert.rejects(kernel.run(condition, LIMITS), /in the condition/);
    const thread = kernel.createThread('t');
    thread.onFailure = () => assert.fail('in the care');
    thread.post(1, reject);
    await assert.rejects(untilIdle(kernel), /in the care/);
  });

  it('is of no interest for a dead thread', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    thread.post(1, () => {
      thread.kill();
      reject();
      assert.fail('thrown');
    });
    await untilIdle(kernel);
  });

  it('leaves listeners of the real process as they were', async () => {
    const listeners = () => [
      process.rawListeners('uncaughtException'),
      process.rawListeners('unhandledRejection'),
    ];
    const own = (): void => assert.fail('it concerns the simulated world only');
    process.on('uncaughtException', own).once('unhandledRejection', own);
    const before = listeners();
    await failuresOf(reject);
    await failuresOf(reject, { isSlow: true });
    const after = listeners();
    process.off('uncaughtException', own).off('unhandledRejection', own);
    assert.deepEqual(after, before);
  });
});

describe('work outside of the world', () => {
  it('takes no simulated time, and its result is an event of the thread', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const realWork = (): Promise<string> =>
      new Promise((resolve) => {
        setImmediate(() => setImmediate(() => setImmediate(() => resolve('done'))));
      });
    thread.clock.every(0.001, () => {});
    const [result, tookMs] = await inThread(kernel, thread, async () => {
      const startMs = thread.clock.now();
      return [await kernel.outside(thread, realWork()), thread.clock.now() - startMs] as const;
    });
    assert.equal(result, 'done');
    assert.ok(tookMs < 0.1, `${tookMs}`);
  });

  it('passes failures on', async () => {
    const kernel = new Kernel({ seed: 1 });
    const thread = kernel.createThread('t');
    const work = (): Promise<never> => kernel.outside(thread, Promise.reject(new Error('real')));
    await assert.rejects(inThread(kernel, thread, work), /real/);
  });
});
