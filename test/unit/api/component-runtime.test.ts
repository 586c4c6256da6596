import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AnyComponent,
  isBolt,
  isSpout,
  kindOf,
  streamsOf,
} from '../../../src/api/component-runtime.ts';
import { BasicBolt, Bolt, Spout, Tuple } from '../../../src/api/index.ts';
import { TupleOrigin } from '../../../src/api/tuple.ts';
import { componentName, DEFAULT_STREAM, taskId } from '../../../src/base/ids.ts';
import { aContext, attached } from '../../support/recording-collector.ts';

class Lines extends Spout.of({ default: ['line'], log: ['text', 'atMs'] }) {
  nextTuple(): void {}
}

class Split extends BasicBolt.of({ default: ['word'] }) {
  execute(): void {}
}

class Join extends Bolt.of({ default: ['left', 'right'] }) {
  execute(): void {}
}

class Sink extends Bolt {
  execute(): void {}
}

const origin = new TupleOrigin(componentName('split'), DEFAULT_STREAM, ['word']);
const tuple = new Tuple(origin, taskId(3), ['a']);

test('the kind of a class and of its instances', () => {
  assert.equal(kindOf(Lines), 'spout');
  assert.equal(kindOf(new Lines()), 'spout');
  assert.equal(kindOf(Split), 'basic-bolt');
  assert.equal(kindOf(new Join()), 'bolt');
  assert.equal(kindOf(new Sink()), 'bolt');
  assert.equal(isSpout(new Lines()), true);
  assert.equal(isBolt(new Lines()), false);
  assert.equal(isBolt(new Split()), true);
});

test('what is no component has no kind', () => {
  class Other {
    readonly name = 'other';
  }
  for (const value of [undefined, null, 1, 'spout', {}, [], Other, new Other(), () => 1]) {
    assert.equal(kindOf(value), undefined);
  }
});

test('a component of another copy of the package is recognised by its symbols', () => {
  const foreign = {
    [Symbol.for('heron-ts.component.kind')]: 'bolt',
    [Symbol.for('heron-ts.component.outputs')]: { default: ['a'] },
  };
  assert.equal(kindOf(foreign), 'bolt');
  assert.deepEqual(streamsOf(foreign), [{ stream: 'default', fields: ['a'] }]);
  assert.equal(foreign instanceof Bolt, false);
});

test('streams come in the order of their declaration', () => {
  const expected = [
    { stream: 'default', fields: ['line'] },
    { stream: 'log', fields: ['text', 'atMs'] },
  ];
  assert.deepEqual(streamsOf(Lines), expected);
  assert.deepEqual(streamsOf(new Lines()), expected);
  assert.deepEqual(streamsOf(new Sink()), []);
  assert.deepEqual(streamsOf({}), []);
});

test('a subclass keeps the streams of its parent', () => {
  class MoreLines extends Lines {}
  assert.deepEqual(streamsOf(new MoreLines()), streamsOf(Lines));
});

test('two classes made from the same base keep their own streams', () => {
  assert.deepEqual(streamsOf(Join), [{ stream: 'default', fields: ['left', 'right'] }]);
  assert.deepEqual(streamsOf(Split), [{ stream: 'default', fields: ['word'] }]);
});

test('a declaration that is none is refused with what to write', () => {
  for (const outputs of [{ default: 'word' }, { default: [1] }]) {
    class Wrong extends BasicBolt.of(outputs as never) {
      execute(): void {}
    }
    assert.throws(() => streamsOf(new Wrong()), {
      code: 'INVALID_TOPOLOGY',
      message: "stream 'default' must be declared with a list of field names, such as ['word']",
    });
  }
});

test('a bolt anchors, acks and fails', () => {
  const join = new Join();
  const collector = attached(join);
  join.emit({ left: 1, right: 2 });
  join.emit([1, 2], tuple);
  join.emit('default', [1, 2], [tuple, tuple]);
  assert.deepEqual(
    collector.emitted.map(({ anchors }) => anchors),
    [undefined, [tuple], [tuple, tuple]],
  );
  assert.ok(collector.emitted.every(({ messageId }) => messageId === undefined));
  join.ack(tuple);
  join.fail(tuple, 'no match');
  assert.deepEqual(collector.acked, [tuple]);
  assert.deepEqual(collector.failed, [{ tuple, reason: 'no match' }]);
});

test('a basic bolt leaves anchors to the engine', () => {
  const split = new Split();
  const collector = attached(split);
  split.emit({ word: 'a' });
  split.emit('default', ['b']);
  assert.deepEqual(
    collector.emitted.map(({ values, anchors, messageId }) => [values, anchors, messageId]),
    [
      [['a'], undefined, undefined],
      [['b'], undefined, undefined],
    ],
  );
});

test('errors and the end of input reach the engine', () => {
  const spout = new Lines();
  const collector = attached(spout);
  const error = new Error('lost a line');
  spout.reportError(error);
  spout.endOfInput();
  assert.deepEqual(collector.errors, [error]);
  assert.equal(collector.ends, 1);
});

test('every method of the life cycle may be left out', () => {
  const context = aContext();
  const spout: AnyComponent = new Lines();
  assert.ok(isSpout(spout));
  const bolts = [new Split(), new Join()];
  const results = [
    spout.open(context),
    spout.activate(),
    spout.ack('id'),
    spout.fail('id', {
      kind: 'explicit',
      component: undefined,
      task: undefined,
      error: undefined,
    }),
    spout.deactivate(),
    spout.close(),
    ...bolts.flatMap((bolt) => [bolt.prepare(context), bolt.finish(), bolt.cleanup()]),
  ];
  // No promises: what is left out costs an engine no await.
  assert.ok(results.every((result) => result === undefined));
});
