import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Destinations } from '../../../src/routing/destinations.ts';

describe('Destinations', () => {
  it('grows as far as it is filled and keeps what it holds', () => {
    const into = new Destinations();
    for (let task = 0; task < 100; task += 1) into.add(task);
    assert.deepEqual(
      [...into.tasks.subarray(0, into.count)],
      Array.from({ length: 100 }, (_, task) => task),
    );
    into.clear();
    assert.equal(into.count, 0);
  });
});
