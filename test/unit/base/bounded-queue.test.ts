import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BoundedQueue } from '../../../src/base/bounded-queue.ts';

test('refuses what would break the limit of bytes, and stays as it was', () => {
  const queue = new BoundedQueue<string>(10);
  assert.equal(queue.push('a', 6), true);
  assert.equal(queue.push('b', 5), false);
  assert.equal(queue.push('c', 4), true);
  assert.equal(queue.bytes, 10);
  assert.equal(queue.length, 2);
  assert.equal(queue.push('nothing', 0), true);
});

test('refuses what would break the limit of items', () => {
  const queue = new BoundedQueue<string>(10, 1);
  assert.equal(queue.push('a', 0), true);
  assert.equal(queue.push('b', 0), false);
  assert.equal(queue.shift(), 'a');
  assert.equal(queue.push('b', 0), true);
});

test('is empty after clear, and can be used again', () => {
  const queue = new BoundedQueue<string>(10);
  queue.push('a', 6);
  queue.clear();
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.bytes, 0);
  assert.equal(queue.push('b', 10), true);
  assert.equal(queue.peek(), 'b');
});

test('any sequence of pushes and shifts gives what an array gives', () => {
  const operation = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), bytes: fc.nat(20) }),
    fc.record({ kind: fc.constant('shift' as const) }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
      const queue = new BoundedQueue<number>(200, 100);
      const model: { id: number; bytes: number }[] = [];
      for (const [id, step] of operations.entries()) {
        if (step.kind === 'shift') {
          assert.equal(queue.shift(), model.shift()?.id);
        } else {
          const used = model.reduce((sum, { bytes }) => sum + bytes, 0);
          const fits = used + step.bytes <= 200 && model.length < 100;
          assert.equal(queue.push(id, step.bytes), fits);
          if (fits) model.push({ id, bytes: step.bytes });
        }
        assert.equal(queue.length, model.length);
        assert.equal(queue.peek(), model[0]?.id);
        assert.equal(
          queue.bytes,
          model.reduce((sum, { bytes }) => sum + bytes, 0),
        );
      }
    }),
  );
});

test('gives back the places of taken items while others stay behind', () => {
  const queue = new BoundedQueue<number>(Number.POSITIVE_INFINITY);
  let taken = 0;
  let bytes = 0;
  const take = (): void => {
    bytes -= taken % 7;
    assert.equal(queue.shift(), taken);
    assert.equal(queue.bytes, bytes);
    taken += 1;
  };
  for (let id = 0; id < 10_000; id += 1) {
    queue.push(id, id % 7);
    bytes += id % 7;
    if (id % 2 === 1) take();
  }
  while (queue.length > 0) take();
  assert.equal(taken, 10_000);
  assert.equal(queue.bytes, 0);
});
