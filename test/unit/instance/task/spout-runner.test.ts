import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Spout } from '../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';

/** Writes down its calls, and emits what `next` says. */
class Scripted extends Spout.of({ default: ['word'] }) {
  readonly calls: string[] = [];
  context: TopologyContext | undefined;
  next: (self: this) => unknown = () => undefined;

  override open(context: TopologyContext): void {
    this.context = context;
  }
  override nextTuple(): unknown {
    this.calls.push('nextTuple');
    return this.next(this);
  }
  override activate(): void {
    this.calls.push('activate');
  }
  override deactivate(): void {
    this.calls.push('deactivate');
  }
  override ack(messageId: unknown): void | Promise<void> {
    this.calls.push(`ack ${String(messageId)}`);
  }
  override close(): void {
    this.calls.push('close');
  }
}

/** A spout that emits these words and then says that it has no more. */
function words(...list: string[]): (spout: Scripted) => void {
  return (spout) => {
    const word = list.shift();
    if (word === undefined) spout.endOfInput();
    else spout.emit([word]);
  };
}

function aTask(next: (spout: Scripted) => unknown) {
  const spout = new Scripted();
  spout.next = next;
  return { spout, task: new TaskInTest(spout, { component: 'source' }) };
}

describe('a spout', () => {
  it('emits until it has no more, and then its end follows', async () => {
    const { task } = aTask(words('a', 'b', 'c'));
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(task.takeFrames(), ['default: a b c', 'marker 2']);
  });

  it('N6: is called for as long as it holds messages, although its input has ended', async () => {
    let held = 2;
    class Holding extends Scripted {
      override holdsMessages(): boolean {
        return held > 0;
      }
    }
    const spout = new Holding();
    const task = new TaskInTest(spout, { component: 'source' });
    const ended = task.start();
    await task.turn();
    task.running.drain();
    for (let wait = 0; wait < 20; wait += 1) {
      task.clock.advance(10);
      await task.turn();
    }
    const calls = spout.calls.length;
    assert.ok(calls > 5 && calls < 30, `${calls} calls, with pauses between them`);
    spout.next = () => {
      held -= 1;
      spout.emit([`again ${held}`]);
    };
    task.clock.advance(1_000);
    assert.equal(await task.drive(ended), 'ended');
    assert.deepEqual(task.takeFrames(), ['default: again 1 again 0', 'marker 2']);
  });

  it('N4: what it has emitted leaves when it has nothing more', async () => {
    let isFirst = true;
    const { task, spout } = aTask(() => {
      if (isFirst) spout.emit(['a']);
      isFirst = false;
    });
    void task.start();
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['default: a']);
    task.running.stop();
  });

  it('N4: what it has emitted leaves at the end of a time slice', async () => {
    const { task, spout } = aTask(() => {
      task.clock.advance(10);
      spout.emit(['a']);
    });
    void task.start();
    await task.turn();
    assert.ok(task.takeFrames().length > 0);
    task.running.stop();
  });

  it('R16: is asked less and less often while it has nothing', async () => {
    const { task, spout } = aTask(() => undefined);
    void task.start();
    await task.turn();
    for (let ms = 0; ms < 1_000; ms += 1) {
      task.clock.advance(1);
      await task.turn();
    }
    const idle = spout.calls.length;
    assert.ok(idle > 60 && idle < 75, `${idle} calls in a second`);
    spout.context?.wake();
    await task.turn();
    assert.equal(spout.calls.length, idle + 1, 'wake ends the wait at once');
    task.running.stop();
  });

  it('R16: waits from nothing again after it has emitted, however long it was idle', async () => {
    let has = false;
    const { task, spout } = aTask((self) => {
      if (has) self.emit(['a']);
      has = false;
    });
    void task.start();
    for (let ms = 0; ms < 200; ms += 1) {
      await task.turn();
      task.clock.advance(1);
    }
    has = true;
    spout.context?.wake();
    await task.turn();
    const before = spout.calls.length;
    for (let ms = 0; ms < 3; ms += 1) {
      task.clock.advance(1);
      await task.turn();
    }
    assert.ok(spout.calls.length >= before + 2, 'not one long wait');
    task.running.stop();
  });

  it('R16: is asked again at once when it has something', async () => {
    const { task, spout } = aTask((self) => {
      if (self.calls.length < 100) self.emit(['a']);
      else self.endOfInput();
    });
    await task.drive(task.start());
    assert.equal(task.clock.now(), 0);
    assert.equal(spout.calls.length, 100);
  });

  it('N1: is not called while its promise is pending, and its order is kept', async () => {
    const gates = [1, 2].map(() => Promise.withResolvers<void>());
    const { task, spout } = aTask(async (self) => {
      const number = self.calls.filter((call) => call === 'nextTuple').length;
      if (number > 2) self.endOfInput();
      else {
        await gates[number - 1]?.promise;
        self.emit([`${number}`]);
      }
    });
    const done = task.start();
    await task.turn();
    task.running.setActive(false);
    await task.turn();
    assert.deepEqual(spout.calls, ['nextTuple'], 'no deactivate either');
    gates[0]?.resolve();
    await task.turn();
    assert.deepEqual(spout.calls, ['nextTuple', 'deactivate']);
    task.running.setActive(true);
    gates[1]?.resolve();
    await task.drive(done);
    assert.deepEqual(task.takeFrames(), ['default: 1', 'default: 2', 'marker 2']);
  });

  it('R16: is asked again without delay after a promise that took its time', async () => {
    const { task, spout } = aTask(async (self) => {
      if (self.calls.length > 3) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      task.clock.after(50, resolve);
      await promise;
    });
    void task.start();
    await task.turn();
    for (let wait = 0; wait < 3; wait += 1) {
      task.clock.advance(50);
      await task.turn();
    }
    assert.ok(spout.calls.length > 3);
    assert.equal(task.clock.now(), 150);
    task.running.stop();
  });

  it('what it emits while its promise is pending leaves at once', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, spout } = aTask(async () => gate.promise);
    void task.start();
    await task.turn();
    spout.emit(['from a timer']);
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['default: from a timer']);
    task.running.stop();
    gate.resolve();
  });

  it('is activated and deactivated between two calls', async () => {
    const { task, spout } = aTask(() => undefined);
    void task.start(false);
    await task.turn();
    assert.deepEqual(spout.calls, []);
    task.running.setActive(true);
    await task.turn();
    task.running.setActive(false);
    await task.turn();
    const calls = spout.calls.filter((call) => call !== 'nextTuple');
    assert.deepEqual(calls, ['activate', 'deactivate']);
    assert.equal(spout.calls.at(-1), 'deactivate', 'and then it is left alone');
    task.running.stop();
  });

  it('N3: message ids are acked after the call, in order', async () => {
    let left = 2;
    const { task, spout } = aTask((self) => {
      if (left === 0) self.endOfInput();
      else {
        self.emit(['a'], `id ${left}`);
        self.emit(['b'], `id ${left}b`);
      }
      left -= 1;
    });
    await task.drive(task.start());
    const round = (id: number): string[] => ['nextTuple', `ack id ${id}`, `ack id ${id}b`];
    assert.deepEqual(spout.calls, [...round(2), ...round(1), 'nextTuple']);
    assert.deepEqual(task.takeFrames(), ['default: a b a b', 'marker 2']);
  });

  it('N3: an ack that returns a promise is awaited', async () => {
    const { task, spout } = aTask(words('a'));
    const gate = Promise.withResolvers<void>();
    spout.ack = async (id) => {
      spout.calls.push(`ack ${String(id)}`);
      await gate.promise;
      spout.calls.push('acked');
    };
    spout.next = (self) => {
      if (self.calls.includes('acked')) self.endOfInput();
      else self.emit(['a'], 1);
    };
    const done = task.start();
    await task.turn();
    assert.deepEqual(spout.calls, ['nextTuple', 'ack 1']);
    gate.resolve();
    await task.drive(done);
    assert.deepEqual(spout.calls, ['nextTuple', 'ack 1', 'acked', 'nextTuple']);
  });

  it('N2: is not called while the ring is full; its timers go on', async () => {
    const { task, spout } = aTask((self) => self.emit(['x'.repeat(1_000)]));
    void task.start();
    await task.turn();
    for (let before = -1; before !== spout.calls.length; ) {
      before = spout.calls.length;
      await task.turn();
    }
    let hasRun = false;
    task.clock.after(1, () => {
      hasRun = true;
    });
    task.clock.advance(1);
    assert.ok(hasRun);
    assert.equal(task.gateway.status.activity, 'idle');
    task.gateway.closeOutput();
  });

  for (const [how, fail] of [
    ['throws', () => assert.fail('no more')],
    ['rejects', () => Promise.reject(new Error('no more'))],
  ] as const) {
    it(`ends its instance when it ${how}, with a message that names it`, async () => {
      const { task } = aTask(fail);
      await assert.rejects(task.drive(task.start()), {
        code: 'COMPONENT_FAILED',
        message: "nextTuple of 'source' (task 1) failed: no more",
      });
    });
  }

  it('has sent what its calls emitted before the one that failed', async () => {
    let calls = 0;
    const { task } = aTask((self) => {
      calls += 1;
      if (calls === 3) throw new Error('no more');
      self.emit([`${calls}`]);
    });
    await assert.rejects(task.drive(task.start()), { code: 'COMPONENT_FAILED' });
    assert.deepEqual(task.takeFrames(), ['default: 1 2']);
  });

  it('is named when it is ack that fails', async () => {
    const { task, spout } = aTask((self) => self.emit(['a'], 1));
    spout.ack = () => assert.fail('no such id');
    await assert.rejects(task.drive(task.start()), {
      message: "ack of 'source' (task 1) failed: no such id",
    });
  });

  it('is closed when its last call is over', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, spout } = aTask(async (self) => {
      await gate.promise;
      self.emit(['last']);
    });
    void task.start();
    await task.turn();
    task.running.stop();
    const closed = task.running.close();
    await task.turn();
    assert.deepEqual(spout.calls, ['nextTuple']);
    gate.resolve();
    await task.drive(closed);
    assert.deepEqual(spout.calls, ['nextTuple', 'close']);
    assert.deepEqual(task.takeFrames(), ['default: last']);
  });
});
