import assert from 'node:assert/strict';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import {
  clearTimeout as importedClearTimeout,
  setTimeout as importedSetTimeout,
} from 'node:timers';
import {
  setImmediate as turn,
  setInterval as ticks,
  setTimeout as delay,
  scheduler,
} from 'node:timers/promises';
import { promisify } from 'node:util';
import { createSeededRandom } from '../../../src/base/random.ts';
import { useSimulatedGlobals } from '../../../src/testing/simulated-globals.ts';
import { runUserCode, type UserCodeWorld } from '../../../src/testing/user-code.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

/** What authors without a type checker may give. */
const noFunction = 'code' as unknown as () => void;
const START_MS = 1_700_000_000_000;

/** A world on a clock that the test moves. */
function aWorld(clock: ManualClock): UserCodeWorld {
  return {
    where: "'bolt' (task 0)",
    clock,
    random: createSeededRandom(1),
    allowed: new Set(),
    outside: (work) => work,
    post: (call) => void clock.soon(call),
    spend: () => {},
    crash: () => {},
  };
}

/** Moves time by steps of a millisecond, as an event loop does. */
async function advance(clock: ManualClock, ms: number): Promise<void> {
  await settled();
  for (let step = 0; step < ms; step += 1) {
    clock.advance(1);
    await settled();
    clock.runSoon();
    await settled();
  }
}

let standIns: Disposable | undefined;

/** Runs user code with the stand-ins in place until the end of the test. */
function inSimulation<Result>(clock: ManualClock, call: () => Result): Result {
  standIns ??= useSimulatedGlobals();
  return runUserCode(aWorld(clock), call);
}

describe('the platform as simulated user code finds it', () => {
  afterEach(() => {
    standIns?.[Symbol.dispose]();
    standIns = undefined;
  });

  it('tells the simulated date, and makes dates of anything else', () => {
    const clock = new ManualClock(START_MS);
    inSimulation(clock, () => {
      assert.equal(Date.now(), START_MS);
      assert.equal(new Date().getTime(), START_MS);
      assert.equal(new Date(5).getTime(), 5);
      assert.equal(new Date(2020, 0).getFullYear(), 2020);
      assert.equal(Date.UTC(1970, 0), 0);
      assert.ok(new Date() instanceof Date);
      assert.equal(Date(), new Date(START_MS).toString());
      class Day extends Date {}
      assert.equal(new Day().getTime(), START_MS);
      assert.ok(new Day() instanceof Day);
    });
    clock.advance(1_500);
    assert.equal(
      inSimulation(clock, () => Date.now()),
      START_MS + 1_500,
    );
  });

  it('tells the simulated time by every clock of the platform', () => {
    const clock = new ManualClock();
    clock.advance(2_500);
    inSimulation(clock, () => {
      assert.equal(performance.now(), 2_500);
      assert.deepEqual(process.hrtime(), [2, 500_000_000]);
      assert.deepEqual(process.hrtime([1, 700_000_000]), [0, 800_000_000]);
      assert.equal(process.hrtime.bigint(), 2_500_000_000n);
    });
  });

  it('calls timers in simulated time, with their arguments', () => {
    const clock = new ManualClock();
    const calls: string[] = [];
    inSimulation(clock, () => {
      setTimeout((text: string) => calls.push(`${text} ${performance.now()}`), 20, 'late');
      importedSetTimeout(() => calls.push(`named import ${performance.now()}`), 10);
      setTimeout(() => calls.push('never'), 5).close();
      importedClearTimeout(setTimeout(() => calls.push('never'), 5));
      const interval = setInterval(() => calls.push(`tick ${performance.now()}`), 8);
      setTimeout(() => clearInterval(interval), 17);
      setImmediate((text: string) => calls.push(text), 'soon');
      clearImmediate(setImmediate(() => calls.push('never')));
      setTimeout(() => calls.push(`odd ${performance.now()}`), Number.NaN);
    });
    clock.advance(100);
    assert.deepEqual(calls, ['soon', 'odd 1', 'tick 8', 'named import 10', 'tick 16', 'late 20']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('gives timers that can do what those of Node can', () => {
    const clock = new ManualClock();
    const calls: number[] = [];
    const timer = inSimulation(clock, () => setTimeout(() => calls.push(performance.now()), 10));
    assert.equal(timer.hasRef(), true);
    assert.equal(timer.unref().hasRef(), false);
    assert.equal(timer.ref().hasRef(), true);
    clock.advance(9);
    timer.refresh();
    clock.advance(9);
    assert.deepEqual(calls, []);
    clock.advance(1);
    timer.refresh();
    clock.advance(100);
    assert.deepEqual(calls, [19]);
    assert.throws(() => inSimulation(clock, () => importedSetTimeout(noFunction, 1)), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
  });

  it('waits in simulated time by promises', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const done = inSimulation(clock, async () => {
      const note = (what: string): void => void seen.push(`${what} ${performance.now()}`);
      note(await delay(10, 'delay'));
      note(await promisify(setTimeout)(10, 'promisified'));
      note(await turn('turn'));
      await scheduler.wait(5);
      note('scheduler');
      for await (const tick of ticks(10, 'tick')) {
        note(tick);
        if (seen.length === 6) break;
      }
    });
    await advance(clock, 60);
    await done;
    assert.deepEqual(seen, [
      'delay 10',
      'promisified 20',
      'turn 20',
      'scheduler 25',
      'tick 35',
      'tick 45',
    ]);
  });

  it('ends a wait when it is aborted', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = inSimulation(clock, () => delay(10, undefined, { signal }));
    const rejected = assert.rejects(waiting, { name: 'AbortError' });
    controller.abort();
    await rejected;
    assert.equal(clock.pendingTimers, 0);
    await assert.rejects(
      inSimulation(clock, () => delay(10, undefined, { signal })),
      { code: 'ABORT_ERR' },
    );
  });

  it('aborts a signal after a simulated time', () => {
    const clock = new ManualClock();
    const signal = inSimulation(clock, () => AbortSignal.timeout(100));
    clock.advance(99);
    assert.equal(signal.aborted, false);
    clock.advance(1);
    assert.equal(signal.aborted, true);
    assert.equal((signal.reason as Error).name, 'TimeoutError');
  });

  it('draws its random numbers from the seed', () => {
    const draw = (): unknown[] => [
      // oxlint-disable-next-line no-restricted-properties -- As users write it.
      Math.random(),
      randomUUID(),
      crypto.randomUUID(),
      randomInt(1_000),
      randomInt(10, 12),
      randomBytes(8).toString('hex'),
      [...crypto.getRandomValues(new Uint8Array(4))],
    ];
    const [first, second] = [1, 2].map(() => inSimulation(new ManualClock(), draw));
    assert.deepEqual(first, second);
    const [number, uuid, , limited, between] = first as [number, string, string, number, number];
    assert.ok(number >= 0 && number < 1);
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(limited >= 0 && limited < 1_000);
    assert.ok(between === 10 || between === 11);
    assert.notDeepEqual(draw(), first);
  });

  it('keeps its world over promises and timers, and nobody else gets into it', async () => {
    const clock = new ManualClock();
    const seen: number[] = [];
    const done = inSimulation(clock, async () => {
      await Promise.resolve();
      seen.push(Date.now());
      await new Promise<void>((resolve) => {
        setTimeout(() => queueMicrotask(resolve), 50);
      });
      seen.push(Date.now());
    });
    await settled();
    assert.ok(Date.now() > START_MS + 1_000_000, 'the test sees the real date');
    await new Promise((resolve) => {
      setTimeout(resolve, 1); // A real timer, which fires although simulated time stands still.
    });
    await advance(clock, 50);
    await done;
    assert.deepEqual(seen, [START_MS, START_MS + 50]);
  });

  it('is the real one again when the last use is over', () => {
    const places: readonly [object, string][] = [
      ...['Date', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'fetch'].map(
        (name): [object, string] => [globalThis, name],
      ),
      [Math, 'random'],
      [performance, 'now'],
      [process, 'hrtime'],
      [process, 'exit'],
      [AbortSignal, 'timeout'],
    ];
    const platform = (): unknown[] => [
      ...places.map(([target, name]): unknown => Reflect.get(target, name)),
      importedSetTimeout,
      delay,
      randomUUID,
    ];
    const before = platform();
    const first = useSimulatedGlobals();
    const second = useSimulatedGlobals();
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    const during = platform();
    assert.ok(during.every((value, index) => value !== before[index]));
    second[Symbol.dispose]();
    const after = platform();
    assert.ok(after.every((value, index) => value === before[index]));
    assert.equal(Object.hasOwn(performance, 'now'), false);
  });

  it('leaves alone what somebody has put in its place meanwhile', () => {
    const { fetch } = globalThis;
    const use = useSimulatedGlobals();
    const other = (): Promise<Response> => Promise.resolve(new Response('other'));
    globalThis.fetch = other;
    use[Symbol.dispose]();
    assert.equal(globalThis.fetch, other);
    globalThis.fetch = fetch;
  });
});
