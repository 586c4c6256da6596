import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { RetryQueue } from '../../../src/api/retry-queue.ts';

test('gives what is due, the longest due first, equals in the order of their coming', () => {
  const steps = fc.array(fc.record({ add: fc.boolean(), ms: fc.integer({ min: 0, max: 20 }) }), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (script) => {
      const queue = new RetryQueue<number>();
      let model: { readonly dueMs: number; readonly number: number }[] = [];
      for (const [number, { add, ms }] of script.entries()) {
        if (add) {
          queue.add(number, ms);
          model.push({ dueMs: ms, number });
          model = model.toSorted((a, b) => a.dueMs - b.dueMs || a.number - b.number);
        } else {
          const expected =
            (model[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= ms ? model.shift() : undefined;
          assert.equal(queue.take(ms), expected?.number);
        }
        assert.equal(queue.length, model.length);
        assert.equal(queue.firstDueMs, model[0]?.dueMs);
      }
    }),
  );
});
