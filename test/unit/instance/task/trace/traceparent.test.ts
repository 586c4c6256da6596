import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseTraceparent,
  traceparentText,
} from '../../../../../src/instance/task/trace/traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('the example of the recommendation is read', () => {
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), {
    traceId: TRACE,
    spanId: SPAN,
    isSampled: true,
  });
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled, false);
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.isSampled, true);
  assert.equal(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes`)?.isSampled, true);
});

for (const text of [
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
]) {
  test(`'${text}' is no trace`, () => {
    assert.equal(parseTraceparent(text), undefined);
  });
}

test('what is written is read', () => {
  const context = { traceId: TRACE, spanId: SPAN };
  assert.deepEqual(parseTraceparent(traceparentText(context)), { ...context, isSampled: true });
});
