import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricOf, wireKindOf } from '../../../src/wire/metric-kind.ts';
import { PublishMetrics } from '../../../src/wire/messages.ts';

/** Through the bytes of a message. */
function sent(metric: Parameters<typeof wireKindOf>[0]) {
  const metrics = [{ name: 'a', value: '1', ...wireKindOf(metric) }];
  const bytes = PublishMetrics.encode(PublishMetrics.create({ metrics }));
  const [datum] = PublishMetrics.decode(bytes).metrics;
  assert.ok(datum);
  return metricOf(datum);
}

for (const kind of ['count', 'mean', 'value'] as const) {
  test(`a ${kind} is one at the other end`, () => {
    assert.deepEqual(sent({ kind }), { name: 'a', value: '1', kind });
  });
}

test('without a kind there is none, as from other engines', () => {
  assert.deepEqual(sent({}), { name: 'a', value: '1' });
});

test('a kind of a later version is none', () => {
  assert.deepEqual(metricOf({ name: 'a', value: '1', kind: 9 as never }), {
    name: 'a',
    value: '1',
  });
});
