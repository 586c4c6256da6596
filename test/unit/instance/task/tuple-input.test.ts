import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TaskCounters } from '../../../../src/instance/task/task-counters.ts';
import { TupleInput } from '../../../../src/instance/task/tuple-input.ts';
import { MetricsRegistry } from '../../../../src/metrics/metrics-registry.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { linePlan } from '../../../support/task-in-test.ts';
import { aTuple, type TestSet, tupleSetBytes } from '../../../support/tuple-sets.ts';

function anInput(): TupleInput {
  return new TupleInput(new PlanIndex(linePlan), new TaskCounters(new MetricsRegistry()));
}

function open(input: TupleInput, set: Partial<TestSet>): Uint8Array {
  const bytes = tupleSetBytes({ task: 2, component: 'source', ...set });
  input.open(bytes, 0, bytes.length);
  return bytes;
}

describe('the tuples of a set', () => {
  it('come in order, with names, values and where they are from', () => {
    const input = anInput();
    open(input, { tuples: [aTuple('a'), aTuple(7n)] });
    assert.equal(input.hasTuples, true);
    const [first, second] = [input.next(), input.next()];
    assert.deepEqual([first?.values, second?.values], [['a'], [7n]]);
    assert.deepEqual(first?.fields, ['word']);
    assert.equal(first?.sourceComponent, 'source');
    assert.equal(first?.sourceStream, 'default');
    assert.equal(first?.sourceTask, 2);
    assert.equal(input.next(), undefined);
  });

  it('are absent from a set that only says that its task has ended', () => {
    const input = anInput();
    open(input, { endOfInput: true });
    assert.deepEqual([input.hasTuples, input.endOfInput], [false, true]);
    assert.equal(input.next(), undefined);
    open(input, { tuples: [aTuple('a')] });
    assert.deepEqual([input.hasTuples, input.endOfInput], [true, false]);
  });

  it('I1: share no memory with the bytes', () => {
    const input = anInput();
    const bytes = open(input, { tuples: [aTuple(new Uint8Array([1, 2, 3]))] });
    const tuple = input.next();
    bytes.fill(0);
    assert.deepEqual(tuple?.values, [new Uint8Array([1, 2, 3])]);
  });

  it('are counted by component and stream', () => {
    const input = anInput();
    open(input, { tuples: [aTuple('a')] });
    const { counters } = input;
    open(input, { tuples: [aTuple('b')] });
    assert.equal(input.counters, counters);
  });

  it('of a stream that the plan does not know are refused', () => {
    const expected = { code: 'UNEXPECTED_MESSAGE', message: /stream 'other' of 'source'/ };
    assert.throws(() => open(anInput(), { stream: 'other', tuples: [aTuple('a')] }), expected);
  });

  it('that are broken are refused', () => {
    const input = anInput();
    open(input, { tuples: [{ values: [new Uint8Array([0xa5, 0x61])] }] });
    assert.throws(() => input.next(), { code: 'PACKET_MALFORMED' });
  });
});
