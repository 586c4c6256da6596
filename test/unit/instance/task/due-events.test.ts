import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DueEvent, DueEvents } from '../../../../src/instance/task/due-events.ts';
import { UserCalls } from '../../../../src/instance/task/user-calls.ts';
import { createTaskStatusMemory, TaskStatusWriter } from '../../../../src/instance/task-status.ts';
import { anIdentity } from '../../../support/task-in-test.ts';

function someEvents() {
  const log: string[] = [];
  const due = new DueEvents(() => void log.push('wake'));
  const calls = new UserCalls(
    anIdentity('middle', 3),
    new TaskStatusWriter(createTaskStatusMemory()),
  );
  const event = (name: string, then: () => unknown = () => {}): DueEvent => ({
    callback: 'timer',
    run: () => {
      log.push(name);
      return then();
    },
  });
  const run = (goesOn = () => true) => due.runRound(calls, goesOn);
  return { log, due, event, run };
}

describe('what is due between two calls', () => {
  it('runs in the order in which it became due', async () => {
    const { log, due, event, run } = someEvents();
    due.add(event('a'));
    due.add(event('b'));
    assert.equal(due.isEmpty, false);
    await run();
    assert.deepEqual(log, ['wake', 'wake', 'a', 'b']);
    assert.equal(due.isEmpty, true);
  });

  it('E1: waits once, and once more when it becomes due while it runs', async () => {
    const { log, due, event, run } = someEvents();
    const again = event('again', () => {
      due.add(again);
      due.add(again);
    });
    for (let times = 0; times < 10; times += 1) due.add(again);
    await run();
    await run();
    assert.deepEqual(
      log.filter((line) => line !== 'wake'),
      ['again', 'again'],
    );
    assert.equal(due.isEmpty, false);
  });

  it('runs one after the other, promises too', async () => {
    const { log, due, event, run } = someEvents();
    const gate = Promise.withResolvers<void>();
    due.add(event('slow', () => gate.promise.then(() => log.push('slow is done'))));
    due.add(event('next'));
    const running = run();
    await Promise.resolve();
    gate.resolve();
    await running;
    assert.deepEqual(log.slice(2), ['slow', 'slow is done', 'next']);
  });

  it('leaves the rest when the runner is to stop, and what was taken back', async () => {
    const { log, due, event, run } = someEvents();
    let goesOn = true;
    const cancelled = event('cancelled');
    due.add(cancelled);
    due.add(
      event('last', () => {
        goesOn = false;
      }),
    );
    due.add(event('late'));
    due.remove(cancelled);
    await run(() => goesOn);
    assert.deepEqual(log.slice(3), ['last']);
  });

  it('a failure is that of the component, unless the event takes it', async () => {
    const { due, event, run } = someEvents();
    const failing = event('failing', () => {
      throw new RangeError('too far');
    });
    const survived: string[] = [];
    due.add({ ...failing, onFailure: ({ message }) => void survived.push(message) });
    await run();
    assert.deepEqual(survived, ["timer of 'middle' (task 3) failed: too far"]);
    due.add(failing);
    await assert.rejects(run(), { code: 'COMPONENT_FAILED', domain: 'user' });
  });

  it('says when one arrives, at once when one is there', async () => {
    const { due, event } = someEvents();
    let arrivals = 0;
    const wait = () => due.arrival().then(() => (arrivals += 1));
    const waiting = wait();
    await Promise.resolve();
    assert.equal(arrivals, 0);
    due.add(event('a'));
    await waiting;
    await wait();
    assert.equal(arrivals, 2);
  });
});
