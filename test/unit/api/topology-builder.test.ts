import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declareComponent } from '../../../src/api/component.ts';
import { Bolt, Spout, topology, type Tuple } from '../../../src/api/index.ts';

class Sentences extends Spout.of({ default: ['sentence'] }) {
  nextTuple(): void {}
}

class Count extends Bolt {
  execute(_tuple: Tuple): void {}
}

class Replaying extends Spout.of({ default: ['line'] }) {
  static {
    declareComponent(Replaying.prototype, { replays: true });
  }
  nextTuple(): void {}
}

test('a spout that loses no message is marked: by its class, or by its author', () => {
  const { topology: declared } = topology('words', (builder) => {
    builder.setSpout('class', () => new Replaying(), { config: { own: 1 } });
    builder.setSpout('author', () => new Sentences(), { replays: true });
    builder.setSpout('neither', () => new Sentences());
    builder.setSpout('not', () => new Replaying(), { replays: false });
  }).build();
  const marks = declared.components.map(({ config }) => Object.fromEntries(config));
  const mark = { 'heron.component.replays': 'true' };
  assert.deepEqual(marks, [{ own: '1', ...mark }, mark, {}, {}]);
});

test("the mark is the engine's alone to write", () => {
  const config = { 'heron.component.replays': true };
  for (const kind of ['spout', 'bolt']) {
    const words = topology('words', (builder) => {
      if (kind === 'spout') builder.setSpout('words', () => new Sentences(), { config });
      else builder.setBolt('words', () => new Count(), { config });
    });
    const message = /^component 'words': heron\.component\.replays is the engine's own; say/;
    assert.throws(() => words.build(), { code: 'INVALID_CONFIG', message });
  }
});
