import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BlockedTask,
  BlockedTaskWatch,
} from '../../../../src/instance/gateway/blocked-task-watch.ts';
import {
  createTaskStatusMemory,
  TaskStatusReader,
  TaskStatusWriter,
} from '../../../../src/instance/task-status.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LIMIT_MS = 1_000;

/** A watch over a task whose event loop answers while `loop.isTurning`. */
function aWatch() {
  const clock = new ManualClock();
  const memory = createTaskStatusMemory();
  const task = new TaskStatusWriter(memory);
  const found: BlockedTask[] = [];
  const loop = { isTurning: true, pings: 0 };
  const watch = new BlockedTaskWatch({
    clock,
    status: new TaskStatusReader(memory),
    limitMs: LIMIT_MS,
    ping(number) {
      loop.pings += 1;
      if (loop.isTurning) task.answer(number);
    },
    onBlocked: (blocked) => void found.push(blocked),
  });
  return { clock, task, found, loop, watch };
}

describe('a task whose call does not return (O36)', () => {
  it('W1: is found within the limit and a quarter of it, once', () => {
    const { clock, task, found, loop } = aWatch();
    clock.advance(10_000);
    task.enter('execute');
    loop.isTurning = false;
    clock.advance(LIMIT_MS - 1);
    assert.equal(found.length, 0);
    clock.advance(LIMIT_MS / 4 + 1);
    assert.equal(found.length, 1);
    assert.equal(found[0]?.callback, 'execute');
    assert.equal(found[0]?.how, 'thread');
    assert.ok((found[0]?.blockedMs ?? 0) >= LIMIT_MS);
    clock.advance(60_000);
    assert.equal(found.length, 1);
  });

  it('W1: is found again after it has moved on', () => {
    const { clock, task, found, loop } = aWatch();
    loop.isTurning = false;
    task.enter('nextTuple');
    clock.advance(2 * LIMIT_MS);
    task.step();
    clock.advance(2 * LIMIT_MS);
    assert.deepEqual(
      found.map(({ callback }) => callback),
      ['nextTuple', 'nextTuple'],
    );
  });

  it('W3: is found when the engine has not called it', () => {
    const { clock, found, loop } = aWatch();
    clock.advance(10_000);
    loop.isTurning = false;
    clock.advance(2 * LIMIT_MS);
    assert.deepEqual(
      found.map(({ callback, how }) => [callback, how]),
      [['none', 'thread']],
    );
  });

  it('is asked one question at a time', () => {
    const { clock, loop } = aWatch();
    loop.isTurning = false;
    clock.advance(60_000);
    assert.equal(loop.pings, 1);
  });
});

describe('a task whose promise does not settle (O36)', () => {
  it('is found, and told apart', () => {
    const { clock, task, found } = aWatch();
    task.enter('execute');
    task.awaitPromise();
    clock.advance(2 * LIMIT_MS);
    assert.deepEqual(
      found.map(({ callback, how }) => [callback, how]),
      [['execute', 'promise']],
    );
  });
});

describe('a task that is not blocked', () => {
  it('moves on between two looks', () => {
    const { clock, task, found } = aWatch();
    task.enter('execute');
    for (let calls = 0; calls < 100; calls += 1) {
      clock.advance(LIMIT_MS - 1);
      task.step();
    }
    assert.deepEqual(found, []);
  });

  it('may be idle for ever', () => {
    const { clock, task, found } = aWatch();
    task.enter('open');
    task.leave();
    clock.advance(1_000_000);
    assert.deepEqual(found, []);
  });

  it('W2: R5: may wait for room inside emit, where its event loop does not turn', () => {
    const { clock, task, found, loop } = aWatch();
    task.enter('execute');
    task.awaitRoom();
    loop.isTurning = false;
    clock.advance(1_000_000);
    assert.deepEqual(found, []);
  });
});

it('a watch that is closed keeps no timer', () => {
  const { clock, watch } = aWatch();
  watch.close();
  assert.equal(clock.pendingTimers, 0);
});
