import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createTaskStatusMemory,
  TaskStatusReader,
  TaskStatusWriter,
} from '../../../src/instance/task-status.ts';

function bothEnds() {
  const memory = createTaskStatusMemory();
  return { task: new TaskStatusWriter(memory), gateway: new TaskStatusReader(memory) };
}

describe('the status of a task', () => {
  it('shows what runs, and that it moves', () => {
    const { task, gateway } = bothEnds();
    assert.deepEqual([gateway.activity, gateway.callback], ['idle', 'none']);
    const seen = new Set([gateway.progress]);
    task.enter('execute');
    assert.deepEqual([gateway.activity, gateway.callback], ['user-code', 'execute']);
    seen.add(gateway.progress);
    task.step();
    seen.add(gateway.progress);
    task.leave();
    seen.add(gateway.progress);
    assert.equal(gateway.activity, 'idle');
    assert.equal(seen.size, 4);
  });

  it('shows a promise that is awaited without progress', () => {
    const { task, gateway } = bothEnds();
    task.enter('finish');
    const { progress } = gateway;
    task.awaitPromise();
    assert.equal(gateway.activity, 'promise');
    task.resumeUserCode();
    assert.deepEqual([gateway.activity, gateway.progress], ['user-code', progress]);
  });

  it('goes back to what it was after a wait for room', () => {
    const { task, gateway } = bothEnds();
    task.enter('execute');
    task.awaitPromise();
    const before = task.awaitRoom();
    assert.equal(gateway.activity, 'room');
    task.restore(before);
    assert.equal(gateway.activity, 'promise');
  });

  it('hands out consumed bytes once, also beyond 2^32', () => {
    const { task, gateway } = bothEnds();
    assert.equal(gateway.takeConsumed(), 0);
    for (let round = 0; round < 9; round += 1) {
      task.addConsumed(1_000_000_000);
      assert.equal(gateway.takeConsumed(), 1_000_000_000);
    }
    assert.equal(gateway.takeConsumed(), 0);
  });

  it('carries the answer to a ping', () => {
    const { task, gateway } = bothEnds();
    assert.equal(gateway.answer, 0);
    task.answer(7);
    assert.equal(gateway.answer, 7);
  });

  it('tells the task what the gateway says of back pressure and of time-outs', () => {
    const { task, gateway } = bothEnds();
    assert.deepEqual([task.isHeld, task.forgetsTimeOuts], [false, false]);
    gateway.setHeld(true);
    assert.deepEqual([task.isHeld, task.forgetsTimeOuts], [true, false]);
    gateway.setForgetsTimeOuts(true);
    gateway.setHeld(false);
    assert.deepEqual([task.isHeld, task.forgetsTimeOuts], [false, true]);
  });
});
