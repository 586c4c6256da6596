import { BasicBolt, Bolt, fields, Spout, type Tuple } from '../../src/api/index.ts';
import { type Equal, expectType } from './expect-type.ts';

/* Checked by tsc alone; nothing here runs. What each kind of component may emit. */

class Lines extends Spout.of({ default: ['line', 'number'], log: ['text'] }) {
  nextTuple(): void {
    this.emit({ line: 'a', number: 1 });
    this.emit(['a', 1]);
    this.emit({ line: 'a', number: 1 }, 'message-1');
    this.emit('log', { text: 'read' });
    this.emit('log', ['read'], 17);

    this.emitDirect(3, { line: 'a', number: 1 }, 'message-1');
    this.emitDirect(3, 'log', ['read']);

    // @ts-expect-error The field 'number' is missing.
    this.emitDirect(3, { line: 'a' });
    // @ts-expect-error There is no stream 'logs'.
    this.emitDirect(3, 'logs', { text: 'read' });
    // @ts-expect-error The task comes first.
    this.emitDirect({ line: 'a', number: 1 });
    // @ts-expect-error The field 'number' is missing.
    this.emit({ line: 'a' });
    // @ts-expect-error There is no field 'lime'.
    this.emit({ line: 'a', number: 1, lime: 'b' });
    // @ts-expect-error One value is missing.
    this.emit(['a']);
    // @ts-expect-error One value too many.
    this.emit(['a', 1, 2]);
    // @ts-expect-error There is no stream 'logs'.
    this.emit('logs', { text: 'read' });
    // @ts-expect-error These are the fields of another stream.
    this.emit('log', { line: 'a', number: 1 });
    // @ts-expect-error Values are an object or an array.
    this.emit(1);
    // @ts-expect-error A spout has nothing to ack.
    this.emit(['a', 1], 'message-1', 'message-2');
  }
}

class Counts extends BasicBolt.of({
  default: fields<{ word: string; count: number }>()('word', 'count'),
}) {
  execute(tuple: Tuple<{ word: string; weight: bigint | null }>): void {
    expectType<Equal<ReturnType<typeof tuple.get<'word'>>, string>>();
    expectType<Equal<ReturnType<typeof tuple.get<'weight'>>, bigint | null>>();
    expectType<Equal<ReturnType<typeof tuple.getValue>, unknown>>();
    // @ts-expect-error The bolt does not read such a field.
    tuple.get('wrod');

    this.emit({ word: tuple.get('word'), count: 1 });
    this.emit([tuple.get('word'), 1]);
    // @ts-expect-error The count is a number.
    this.emit({ word: 'a', count: '1' });
    // @ts-expect-error The order of the declaration counts.
    this.emit([1, 'a']);
    // @ts-expect-error A BasicBolt anchors by itself.
    this.emit({ word: 'a', count: 1 }, [tuple]);
    // @ts-expect-error A BasicBolt anchors by itself.
    this.emitDirect(3, { word: 'a', count: 1 }, [tuple]);
    // @ts-expect-error A BasicBolt acks by itself.
    this.ack(tuple);
  }
}

class Joined extends Bolt.of({ matched: ['left', 'right'] }) {
  execute(tuple: Tuple<{ left: string } | { right: number }>): void {
    expectType<Equal<ReturnType<typeof tuple.get<'left'>>, string>>();
    expectType<Equal<ReturnType<typeof tuple.get<'right'>>, number>>();
    this.emit('matched', { left: 1, right: 2 });
    this.emit('matched', { left: 1, right: 2 }, tuple);
    this.emit('matched', [1, 2], [tuple, tuple]);
    this.emitDirect(3, 'matched', [1, 2], tuple);
    this.ack(tuple);
    this.fail(tuple, 'no match');
    // @ts-expect-error There is no default stream.
    this.emit({ left: 1, right: 2 });
    // @ts-expect-error Anchors are tuples.
    this.emit('matched', [1, 2], 'message-1');
  }
}

class Sink extends BasicBolt {
  execute(_tuple: Tuple): void {
    // @ts-expect-error It declares no streams.
    this.emit({ word: 'a' });
    // @ts-expect-error It declares no streams.
    this.emit('default', { word: 'a' });
  }
}

class Streaming extends BasicBolt.of({ default: ['word'] }) {
  async execute(tuple: Tuple): Promise<void> {
    await Promise.resolve(tuple.get('whatever'));
  }
}

// @ts-expect-error A bolt must have execute.
class Idle extends BasicBolt.of({ default: ['word'] }) {}

// @ts-expect-error The field 'count' has not been listed.
fields<{ word: string; count: number }>()('word');
// @ts-expect-error There is no such field in the type.
fields<{ word: string }>()('word', 'count');

export const components = [Lines, Counts, Joined, Sink, Streaming, Idle];
