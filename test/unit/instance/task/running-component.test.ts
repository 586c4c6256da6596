import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

class Wrapping extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  override execute(tuple: AnyTuple): void {
    const [word] = tuple.values;
    this.emit('unread', [{ word }]);
    this.emit([word === 'object' ? { word } : word]);
  }
}

test('what cannot be a grouping key is refused where it is emitted (R11)', async () => {
  const task = new TaskInTest(new Wrapping());
  task.feed({ tuples: ['a', 'object', 'b'].map((word) => aTuple(word)) });
  task.feedEnds();
  assert.equal(await task.drive(task.start()), 'ended');
  assert.deepEqual(task.takeFrames(), ['default: a b', 'marker 2']);
  assert.equal(task.exceptions.length, 1);
  assert.match(task.exceptions[0] ?? '', /field 'word' of stream 'default' of 'middle' decides/);
});
