import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { SetQueue } from '../../../src/stream-manager/set-queue.ts';

const ignore = (): void => undefined;

describe('SetQueue', () => {
  it('takes from the oldest set first and says whose it was', () => {
    const queue = new SetQueue<string>();
    queue.push('a', 10, 1);
    queue.push('b', 20, 2);
    const taken: [string, number][] = [];
    assert.equal(
      queue.take(15, (owner, bytes) => taken.push([owner, bytes])),
      15,
    );
    assert.deepEqual(taken, [
      ['a', 10],
      ['b', 5],
    ]);
  });

  it('takes no more than there is', () => {
    const queue = new SetQueue<string>();
    queue.push('a', 10, 1);
    assert.equal(queue.take(25, ignore), 10);
    assert.equal(queue.take(1, ignore), 0);
    assert.ok(queue.isEmpty);
  });

  it('counts the tuples of sets that are not used up', () => {
    const queue = new SetQueue<string>();
    queue.push('a', 10, 3);
    queue.push('a', 10, 4);
    queue.push('b', 10, 5);
    assert.equal(queue.totalTuples, 12);
    queue.take(15, ignore);
    assert.equal(queue.totalTuples, 9);
    assert.equal(queue.clear(ignore), 9);
    assert.equal(queue.totalTuples, 0);
    assert.ok(queue.isEmpty);
  });

  it('behaves like a plain list, whatever is pushed and taken', () => {
    const push = fc.record({ push: fc.integer({ min: 1, max: 100 }) });
    const take = fc.record({ take: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(push, push, take), { maxLength: 200 }), (steps) => {
        const queue = new SetQueue<number>();
        const bytesInOrder: number[] = [];
        for (const [index, step] of steps.entries()) {
          if ('push' in step) {
            queue.push(index, step.push, 1);
            bytesInOrder.push(...repeated(index, step.push));
          } else {
            const seen: number[] = [];
            queue.take(step.take, (owner, bytes) => {
              seen.push(...repeated(owner, bytes));
            });
            assert.deepEqual(seen, bytesInOrder.splice(0, step.take));
          }
        }
        assert.equal(queue.isEmpty, bytesInOrder.length === 0);
      }),
    );
  });
});

function repeated(value: number, count: number): number[] {
  return Array.from({ length: count }, () => value);
}
