import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bolt, fields, Spout, Tuple } from '../../../src/api/index.ts';
import { TupleOrigin } from '../../../src/api/tuple.ts';
import { componentName, streamName, taskId } from '../../../src/base/ids.ts';
import { attached } from '../../support/recording-collector.ts';

class Lines extends Spout.of({
  log: ['text'],
  default: fields<{ line: string; number: number }>()('line', 'number'),
  empty: [],
}) {
  nextTuple(): void {}
}

/** For what the compiler would refuse, as authors without a type checker write it. */
type Untyped = (...values: unknown[]) => void;

function anAttachedSpout() {
  const spout = new Lines();
  const collector = attached(spout);
  const emit = spout.emit.bind(spout) as Untyped;
  return { spout, collector, emit };
}

test('values go out in the declared order, to the position of their stream', () => {
  const { spout, collector } = anAttachedSpout();
  spout.emit({ number: 1, line: 'a' });
  spout.emit(['b', 2], 'id-2');
  spout.emit('log', { text: 'c' }, 'id-3');
  spout.emit('log', ['d']);
  spout.emit('empty', {});
  spout.emit('empty', []);
  const sent = collector.emitted.map(({ streamIndex, values, messageId }) => [
    streamIndex,
    values,
    messageId,
  ]);
  assert.deepEqual(sent, [
    [1, ['a', 1], undefined],
    [1, ['b', 2], 'id-2'],
    [0, ['c'], 'id-3'],
    [0, ['d'], undefined],
    [2, [], undefined],
    [2, [], undefined],
  ]);
});

test('emitDirect names the task, the stream is the default one unless named', () => {
  const { spout, collector } = anAttachedSpout();
  spout.emitDirect(7, { number: 1, line: 'a' }, 'id-1');
  spout.emitDirect(8, 'log', ['c']);
  assert.deepEqual(
    collector.direct.map(({ task, streamIndex, values, messageId }) => [
      task,
      streamIndex,
      values,
      messageId,
    ]),
    [
      [7, 1, ['a', 1], 'id-1'],
      [8, 0, ['c'], undefined],
    ],
  );
  const emitDirect = spout.emitDirect.bind(spout) as Untyped;
  assert.throws(() => emitDirect(7, 'logs', ['a']), { code: 'UNKNOWN_STREAM' });
  assert.throws(() => emitDirect(7, { lime: 'a' }), { code: 'UNKNOWN_FIELD' });
});

test('a bolt anchors what it emits to one task', () => {
  class Told extends Bolt.of({ default: ['word'], log: ['text'] }) {
    execute(): void {}
  }
  const bolt = new Told();
  const { direct } = attached(bolt);
  const tuple = new Tuple(
    new TupleOrigin(componentName('lines'), streamName('default'), []),
    taskId(1),
    [],
  );
  bolt.emitDirect(7, { word: 'a' }, tuple);
  bolt.emitDirect(7, 'log', ['b'], [tuple, tuple]);
  bolt.emitDirect(7, ['c']);
  assert.deepEqual(
    direct.map(({ anchors }) => anchors),
    [[tuple], [tuple, tuple], undefined],
  );
});

test('an array is handed on as it is, not copied', () => {
  const { spout, collector } = anAttachedSpout();
  const values = ['a', 1] as const;
  spout.emit(values);
  assert.equal(collector.emitted[0]?.values, values);
});

test('undefined is a value when it is there', () => {
  const { emit, collector } = anAttachedSpout();
  emit('log', { text: undefined });
  emit({ line: undefined, number: 1 });
  assert.deepEqual(
    collector.emitted.map(({ values }) => values),
    [[undefined], [undefined, 1]],
  );
});

test('values may be properties of any object', () => {
  class Entry {
    readonly line = 'a';
    get number(): number {
      return 1;
    }
  }
  const { spout, collector } = anAttachedSpout();
  spout.emit(new Entry());
  assert.deepEqual(collector.emitted[0]?.values, ['a', 1]);
});

const REFUSED: readonly (readonly [string, readonly unknown[], string, string])[] = [
  [
    'a field that is missing',
    [{ line: 'a' }],
    'UNKNOWN_FIELD',
    "stream 'default' of 'lines' has fields line, number: field 'number' is missing",
  ],
  [
    'the only field missing',
    ['log', {}],
    'UNKNOWN_FIELD',
    "stream 'log' of 'lines' has fields text: field 'text' is missing",
  ],
  [
    'a field too many',
    [{ line: 'a', number: 1, lime: 2 }],
    'UNKNOWN_FIELD',
    "stream 'default' of 'lines' has fields line, number, not 'lime'",
  ],
  [
    'a field beside the only one',
    ['log', { text: 'a', test: 'b' }],
    'UNKNOWN_FIELD',
    "stream 'log' of 'lines' has fields text, not 'test'",
  ],
  [
    'a field in a stream without any',
    ['empty', { a: 1 }],
    'UNKNOWN_FIELD',
    "stream 'empty' of 'lines' has no fields, not 'a'",
  ],
  [
    'too few values',
    [['a']],
    'INVALID_ARGUMENT',
    "stream 'default' of 'lines' has fields line, number: expected 2 values, got 1",
  ],
  [
    'too many values',
    ['log', ['a', 'b']],
    'INVALID_ARGUMENT',
    "stream 'log' of 'lines' has fields text: expected 1 values, got 2",
  ],
  [
    'no values',
    ['log'],
    'INVALID_ARGUMENT',
    "stream 'log' of 'lines' has fields text: emit takes an object or an array of values, " +
      'got undefined',
  ],
  [
    'null',
    [null],
    'INVALID_ARGUMENT',
    "stream 'default' of 'lines' has fields line, number: emit takes an object or an array of " +
      'values, got null',
  ],
  [
    'an unknown stream',
    ['logs', ['a']],
    'UNKNOWN_STREAM',
    "'lines' declares no stream 'logs', only 'log', 'default', 'empty'",
  ],
];

for (const [name, values, code, message] of REFUSED) {
  test(`refused, and nothing is sent: ${name}`, () => {
    const { emit, collector } = anAttachedSpout();
    assert.throws(() => emit(...values), { code, message });
    assert.deepEqual(collector.emitted, []);
  });
}

test('a component without a default stream, or without any, says so', () => {
  class Named extends Spout.of({ late: ['a'] }) {
    nextTuple(): void {}
  }
  class Mute extends Spout {
    nextTuple(): void {}
  }
  for (const [Made, known] of [
    [Named, "'late'"],
    [Mute, 'none'],
  ] as const) {
    const spout = new Made();
    attached(spout);
    const emit = spout.emit.bind(spout) as Untyped;
    const message = `'lines' declares no stream 'default', only ${known}`;
    assert.throws(() => emit({ a: 1 }), { code: 'UNKNOWN_STREAM', message });
  }
});

test('a component that is not attached yet cannot call the engine', () => {
  class Eager extends Spout.of({ default: ['a'] }) {
    constructor() {
      super();
      this.emit({ a: 1 });
    }
    nextTuple(): void {}
  }
  const expected = { code: 'COMPONENT_FAILED', message: /not into the constructor$/ };
  const spout = new Lines();
  assert.throws(() => new Eager(), expected);
  assert.throws(() => spout.emit('log', ['a']), expected);
  assert.throws(() => spout.endOfInput(), expected);
  assert.throws(() => spout.reportError(new Error('x')), expected);
});
