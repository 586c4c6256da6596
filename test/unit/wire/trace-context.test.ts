import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { HeronTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';
import { decodeTrace, encodeTrace } from '../../../src/wire/trace-context.ts';
import { StreamHeaders } from '../../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../../src/wire/tuple-set-reader.ts';
import { TupleSetWriter } from '../../../src/wire/tuple-set-writer.ts';
import { componentName, streamName } from '../../../src/base/ids.ts';

const CONTEXT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const header = new StreamHeaders().of(componentName('words'), streamName('default'));

/** A set of words; those with an exclamation mark are traced. */
function written(words: readonly string[]): Uint8Array {
  const region = new Uint8Array(64 * 1024);
  const writer = new TupleSetWriter();
  writer.begin(region, 0, region.length, header, 3);
  for (const word of words) {
    const isAdded = word.endsWith('!')
      ? writer.addTraced([word], [7], undefined, encodeTrace(CONTEXT))
      : writer.addTuple([word]);
    assert.ok(isAdded);
  }
  writer.finish();
  return region.subarray(writer.start, writer.end);
}

/** Lengths around those at which a tuple's own length takes another byte. */
const WORDS = [
  'a',
  'b!',
  'c',
  ...[60, 80, 85, 90, 95, 99, 120, 16_200, 16_330].map((length) => `${'x'.repeat(length)}!`),
  'd',
];

describe('the trace of a tuple', () => {
  it('stands in the bytes as the generated code would write it', () => {
    const bytes = written(WORDS);
    const message = fromBinary(HeronTupleSetSchema, bytes);
    const traces = message.data?.tuples.map(({ trace }) => Buffer.from(trace).toString('hex'));
    assert.deepEqual(
      traces,
      WORDS.map((word) => (word.endsWith('!') ? CONTEXT.traceId + CONTEXT.spanId : '')),
    );
    assert.deepEqual(toBinary(HeronTupleSetSchema, message), new Uint8Array(bytes));
  });

  it('is found for its own tuple and for no other', () => {
    const reader = new TupleSetReader(new StreamHeaders());
    // The plain tuple of the last set lies where the traced one of the set before it was.
    for (const words of [WORDS, ['plain'], ['also plain', 'traced!'], ['p!'], ['x'.repeat(99)]]) {
      const bytes = written(words);
      reader.open(bytes, 0, bytes.length);
      for (const word of words) {
        assert.ok(reader.next());
        assert.equal(reader.hasTrace, word.endsWith('!'), word);
        if (!reader.hasTrace) continue;
        const trace = decodeTrace(bytes.subarray(reader.traceStart, reader.traceEnd));
        assert.deepEqual(trace, CONTEXT);
      }
      assert.equal(reader.next(), false);
    }
  });

  it('that does not fit leaves the set as it was', () => {
    const region = new Uint8Array(120);
    const writer = new TupleSetWriter();
    for (let room = 60; room < region.length; room += 1) {
      writer.begin(region, 0, room, header, 3);
      assert.ok(writer.addTuple(['a']));
      const isAdded = writer.addTraced(['bcd'], undefined, undefined, encodeTrace(CONTEXT));
      writer.finish();
      const set = fromBinary(HeronTupleSetSchema, region.subarray(writer.start, writer.end));
      assert.equal(set.data?.tuples.length, isAdded ? 2 : 1);
      assert.equal(writer.tupleCount, isAdded ? 2 : 1);
    }
  });

  it('of a length that nobody knows is none', () => {
    assert.equal(decodeTrace(new Uint8Array(25)), undefined);
  });
});
