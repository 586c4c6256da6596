import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValueSerializer } from '../../../../src/api/serializer.ts';
import { type ComponentName, componentName } from '../../../../src/base/ids.ts';
import { TaskCounters } from '../../../../src/instance/task/task-counters.ts';
import { TupleInput } from '../../../../src/instance/task/tuple-input.ts';
import { MetricsRegistry } from '../../../../src/metrics/metrics-registry.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { aPlanOf } from '../../../support/planned-tasks.ts';
import { linePlan } from '../../../support/task-in-test.ts';
import {
  aBolt,
  anInput as anInputStream,
  anOutput,
  aSpout,
  aTopology,
} from '../../../support/topologies.ts';
import { aTuple, type TestSet, tupleSetBytes } from '../../../support/tuple-sets.ts';

function anInput(serializer?: ValueSerializer): TupleInput {
  const counters = new TaskCounters(new MetricsRegistry());
  return new TupleInput(new PlanIndex(linePlan), counters, serializer);
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

  it('have a key where the reader groups by fields: the hashes of these, in its order', () => {
    const plan = aPlanOf(
      aTopology([
        aSpout('source', { outputs: [anOutput(['a', 'b', 'c']), anOutput(['a'], 'other')] }),
        aBolt('sink', [
          anInputStream('source', { kind: 'fields', fields: ['c', 'a'] }),
          anInputStream('source', { kind: 'shuffle' }, 'other'),
        ]),
      ]),
      ['source', 1],
      ['sink', 1],
    );
    const keysFor = (reader: ComponentName | undefined, set: Partial<TestSet>) => {
      const counters = new TaskCounters(new MetricsRegistry());
      const input = new TupleInput(new PlanIndex(plan), counters, undefined, reader);
      open(input, set);
      const keys: (string | undefined)[] = [];
      while (input.next() !== undefined) keys.push(input.key);
      return keys;
    };
    const sink = componentName('sink');
    const tuples = [
      aTuple('1', 'x', '2'),
      aTuple('1', 'y', '2'),
      aTuple('2', 'x', '1'),
      aTuple('', 'x', '21'),
      aTuple(1, 'x', '2'),
      aTuple('1', 'x', 2),
      aTuple(0, 'x', 0),
    ];
    const keys = keysFor(sink, { tuples });
    assert.equal(keys[0], keys[1]);
    assert.equal(new Set(keys).size, tuples.length - 1);
    const [zero, negative] = keysFor(sink, {
      tuples: [aTuple(0, 'x', [0]), aTuple(-0, 'x', [-0])],
    });
    assert.equal(zero, negative, 'they go to one task as one key');
    assert.deepEqual(keysFor(sink, { stream: 'other', tuples: [aTuple('1')] }), [undefined]);
    assert.deepEqual(keysFor(undefined, { tuples: [aTuple('1', 'x', '2')] }), [undefined]);
  });

  it('are read by the serializer of the topology, if it has one', () => {
    const serializer: ValueSerializer = {
      serialize: () => new Uint8Array(),
      deserialize(bytes) {
        if (bytes[0] === 0) throw new Error('no luck');
        return bytes.length;
      },
    };
    const input = anInput(serializer);
    open(input, { tuples: [aTuple(Uint8Array.of(1, 2)), aTuple(Uint8Array.of(0)), aTuple('a')] });
    assert.deepEqual(input.next()?.values, [2]);
    assert.throws(() => input.next(), {
      code: 'VALUE_NOT_SERIALIZABLE',
      message:
        /^word in stream 'default' of 'source': the .* serializer could not read it: no luck$/,
    });
    assert.throws(() => input.next(), {
      code: 'PACKET_MALFORMED',
      message: /^word in stream 'default' of 'source' arrived in the engine's own form/,
    });
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
