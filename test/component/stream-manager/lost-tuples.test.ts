import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aChain, aPair, FIRST, placeOf, SECOND, the } from '../../support/tree-plans.ts';

/* Nothing is acked that was lost, and what is known to be lost fails at once, with the reason. */

for (const [where, container] of [
  ['here', 1],
  ['elsewhere', 2],
] as const) {
  describe(`the process of a bolt ${where} is lost`, () => {
    it('with the tuples that it had not consumed: their trees fail', () => {
      const paths = new AckedDataPaths(aPair(container));
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      for (let key = 0n; key < 3n; key += 1n) {
        spout.emitRoot(key);
        paths.settle();
        if (key < 2n) bolt.consume();
        paths.settle();
      }
      bolt.ack(the(bolt.tuples, 0));
      paths.settle();
      paths.kill(2);
      paths.settle();
      assert.deepEqual(spout.acked, [0n]);
      assert.deepEqual(
        spout.failed.map(({ key, reason }) => [key, ...placeOf(reason)]),
        [[2n, 'lost-instance', 'count', 2]],
      );
      // The second one was consumed: only time tells.
      assert.equal(paths.liveTrees(), 1);
      paths.clock.advance(35_000);
      assert.deepEqual(spout.failed.at(-1)?.reason.kind, 'time-out');
      assert.equal(paths.count(1, '__server/__fail_reason/lost-instance'), 1);
    });

    it('with a tuple that it had consumed, and there are no time-outs: its tree fails', () => {
      const paths = new AckedDataPaths(aPair(container), { timeoutMs: undefined });
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(7n);
      paths.settle();
      bolt.consume();
      paths.settle();
      paths.kill(2);
      paths.settle();
      assert.deepEqual(
        spout.failed.map(({ key, reason }) => [key, reason.kind]),
        [[7n, 'lost-stream-manager']],
      );
      assert.equal(paths.liveTrees(), 0);
    });

    it('and what waits for its next one is not', () => {
      const paths = new AckedDataPaths(aPair(container));
      const spout = paths.instance(1);
      paths.kill(2);
      for (let key = 0n; key < 10n; key += 1n) spout.emitRoot(key);
      paths.settle();
      const bolt = paths.connect(taskId(2));
      paths.settle();
      assert.equal(bolt.tuples.length, 10);
      bolt.ack(...bolt.tuples);
      paths.settle();
      assert.equal(spout.acked.length, 10);
      assert.equal(spout.failed.length, 0);
    });

    it('twice: each loss fails its own', () => {
      const paths = new AckedDataPaths(aPair(container));
      const spout = paths.instance(1);
      for (let round = 0n; round < 2n; round += 1n) {
        spout.emitRoot(round);
        paths.settle();
        paths.kill(2);
        paths.settle();
        paths.connect(taskId(2));
        assert.deepEqual(
          spout.failed.map(({ key }) => key),
          round === 0n ? [0n] : [0n, 1n],
        );
      }
    });
  });
}

describe('the process of a bolt is lost, and there are no time-outs', () => {
  const anyPlan = aPlanOf(
    aTopology([
      aSpout('word'),
      aSpout('name'),
      aBolt('split', ['word']),
      aBolt('count', ['split']),
      aBolt('greet', ['name']),
    ]),
    ['word', 1],
    ['name', 1],
    ['split', 1],
    ['count', 2],
    ['greet', 1],
  );

  it('all trees fail that may have had tuples there, no others', () => {
    const paths = new AckedDataPaths(anyPlan, { timeoutMs: undefined });
    const [word, name, split] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    word.emitRoot(7n);
    name.emitRoot(8n);
    paths.settle();
    split.consume();
    paths.kill(4);
    paths.settle();
    assert.deepEqual([word.failed.length, name.failed.length], [1, 0]);
  });

  it('while the link to their spout is away: they fail with the next one', () => {
    const paths = new AckedDataPaths(aPair(2), { timeoutMs: undefined });
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    bolt.consume();
    paths.settle();
    paths.cut(FIRST, SECOND);
    paths.kill(2);
    paths.settle();
    assert.equal(spout.failed.length, 1);
  });
});

describe('the process of a bolt is lost whose tuples belong to trees of a third container', () => {
  it('their spout hears of it', () => {
    const paths = new AckedDataPaths(aChain(1, 2, 3));
    const [spout, split] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    split.emit([the(split.tuples).roots]);
    split.ack(the(split.tuples));
    split.consume();
    paths.settle();
    paths.kill(3);
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ reason }) => placeOf(reason)),
      [['lost-instance', 'count', 3]],
    );
    assert.equal(paths.liveTrees(), 0);
  });
});

describe('a link breaks', () => {
  it('with tuples under way on it: their trees fail, and name where they went', () => {
    const paths = new AckedDataPaths(aPair(2));
    const spout = paths.instance(1);
    spout.emitRoot(7n);
    paths.clock.runSoon();
    paths.cut(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ reason }) => placeOf(reason)),
      [['lost-stream-manager', 'count', 2]],
    );
  });

  it('and all trees fail that may have tuples behind it, no others', () => {
    const topology = aTopology([
      aSpout('word'),
      aSpout('name'),
      aBolt('split', ['word']),
      aBolt('count', ['split']),
      aBolt('greet', ['name']),
    ]);
    const plan = aPlanOf(
      topology,
      ['word', 1],
      ['name', 1],
      ['split', 1],
      ['count', 2],
      ['greet', 3],
    );
    const paths = new AckedDataPaths(plan);
    const [word, name, split, greet] = [1, 2, 3, 5].map((task) => paths.instance(task));
    assert.ok(word && name && split && greet);
    word.emitRoot(7n);
    name.emitRoot(8n);
    paths.settle();
    paths.cut(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(
      word.failed.map(({ reason }) => placeOf(reason)),
      [['lost-stream-manager', undefined, undefined]],
    );
    assert.equal(name.failed.length, 0);
    greet.ack(the(greet.tuples));
    paths.settle();
    assert.deepEqual(name.acked, [8n]);
    split.ack(the(split.tuples));
    paths.settle();
    assert.deepEqual(word.settledKeys, [7n]);
  });

  it('and what waits for the next one is not lost', () => {
    const paths = new AckedDataPaths(aPair(2));
    const spout = paths.instance(1);
    paths.cut(FIRST, SECOND);
    spout.emitRoot(7n);
    paths.settle();
    // The trees of that time fail all the same: their news may have gaps. The tuple arrives.
    paths.link(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ reason }) => placeOf(reason)),
      [['lost-stream-manager', undefined, undefined]],
    );
    assert.equal(paths.instance(2).tuples.length, 1);
    spout.emitRoot(8n);
    paths.settle();
    paths.instance(2).ack(...paths.instance(2).tuples);
    paths.settle();
    assert.deepEqual(spout.acked, [8n]);
  });
});

describe('a spout that has registered with a stream manager that is not open yet', () => {
  for (const [where, container] of [
    ['here', 1],
    ['elsewhere', 2],
  ] as const) {
    it(`hears of acks, of a bolt ${where}`, () => {
      const paths = new AckedDataPaths(aPair(container));
      paths.kill(1);
      const spout = paths.register(taskId(1));
      spout.emitRoot(7n);
      paths.settle();
      const bolt = paths.instance(2);
      bolt.ack(the(bolt.tuples));
      paths.settle();
      assert.deepEqual(spout.acked, [7n]);
    });
  }

  it('hears of fails', () => {
    const paths = new AckedDataPaths(aPair(2));
    paths.kill(1);
    const spout = paths.register(taskId(1));
    spout.emitRoot(7n);
    paths.settle();
    paths.cut(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ key, reason }) => [key, reason.kind]),
      [[7n, 'lost-stream-manager']],
    );
  });
});

describe('a bolt that has registered with a stream manager that is not open yet', () => {
  it('gets its tuples when it is', () => {
    const paths = new AckedDataPaths(aPair(2));
    paths.kill(2);
    const bolt = paths.register(taskId(2));
    paths.instance(1).emitRoot(7n);
    paths.settle();
    assert.equal(bolt.tuples.length, 0);
    paths.pathOf(2).instanceOpened(bolt.session);
    paths.settle();
    bolt.ack(the(bolt.tuples));
    paths.settle();
    assert.deepEqual(paths.instance(1).acked, [7n]);
  });
});
