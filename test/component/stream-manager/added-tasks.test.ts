import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aPair, FIRST, SECOND, THIRD } from '../../support/tree-plans.ts';
import { updated } from '../../support/updated-plans.ts';

const SECOND_MS = 1_000;

/** `word` (1), in container 1, and tasks 2 and 3 of `count` in the containers that are named. */
function aShuffle(...containers: readonly number[]): PhysicalPlan {
  const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
  return aPlanOf(topology, ['word', 1], ...containers.map((at) => ['count', at] as const));
}

function keys(from: number, to: number): bigint[] {
  return Array.from({ length: to - from }, (_, index) => BigInt(from + index));
}

/** Every instance that is named acks and consumes all that it has got. */
function ackAll(paths: AckedDataPaths, ...tasks: readonly number[]): void {
  for (const task of tasks) {
    const bolt = paths.instance(task);
    bolt.ack(...bolt.tuples.splice(0));
    if (bolt.unconsumedBytes > 0) bolt.consume();
  }
  paths.settle();
}

describe('a plan with one more task', () => {
  for (const container of [1, 2, 3]) {
    it(`in container ${container} gives it tuples, and every tree goes on`, () => {
      const plan = aShuffle(2);
      const paths = new AckedDataPaths(plan);
      const spout = paths.instance(1);
      for (const key of keys(1, 11)) spout.emitRoot(key);
      paths.settle();
      const after = updated(plan, { add: [['count', container]] });
      paths.update(after);
      if (container === 3) {
        paths.link(FIRST, THIRD);
        paths.link(SECOND, THIRD);
      }
      paths.connect(taskId(3));
      for (const key of keys(11, 21)) spout.emitRoot(key);
      paths.settle();
      assert.deepEqual([paths.instance(2).tuples.length, paths.instance(3).tuples.length], [15, 5]);
      assert.deepEqual(spout.settledKeys, []);
      ackAll(paths, 2, 3);
      assert.deepEqual(spout.failed, []);
      assert.deepEqual(
        spout.acked.toSorted((a, b) => Number(a - b)),
        keys(1, 21),
      );
    });
  }

  it('leaves what is under way and what waits as it is: nothing is lost or comes twice', () => {
    const plan = aShuffle(2);
    const paths = new AckedDataPaths(plan, { peerWindowBytes: 200 });
    const spout = paths.instance(1);
    for (const key of keys(1, 31)) {
      spout.emitRoot(key);
      paths.settle();
    }
    const { outboxes } = paths.pathOf(1);
    const before = outboxes.get(taskId(2));
    const underWay = before?.underWayBytes;
    const arrived = paths.instance(2).tuples.length;
    assert.ok(arrived > 0 && arrived < 30);
    paths.update(updated(plan, { add: [['count', 1]] }));
    paths.settle();
    assert.equal(outboxes.get(taskId(2)), before);
    assert.equal(before?.underWayBytes, underWay);
    assert.equal(paths.instance(2).tuples.length, arrived);
    for (let round = 0; round < 31; round += 1) ackAll(paths, 2);
    assert.deepEqual(spout.acked, keys(1, 31));
  });

  it('gives it nothing before its instance has been opened, and then all that waited', () => {
    const plan = aShuffle(1);
    const paths = new AckedDataPaths(plan);
    paths.update(updated(plan, { add: [['count', 1]] }));
    for (const key of keys(1, 5)) paths.instance(1).emitRoot(key);
    paths.settle();
    const bolt = paths.register(taskId(3));
    paths.settle();
    assert.equal(bolt.tuples.length, 0);
    paths.pathOf(1).instanceOpened(bolt.session);
    assert.equal(bolt.tuples.length, 2);
  });

  it('tells it who has ended already, here and elsewhere', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
    const plan = aPlanOf(topology, ['word', 1], ['word', 2], ['count', 1]);
    const paths = new AckedDataPaths(plan);
    for (const task of [1, 2]) paths.instance(task).end();
    paths.settle();
    paths.update(updated(plan, { add: [['count', 1]] }));
    const bolt = paths.connect(taskId(4));
    paths.settle();
    assert.deepEqual(bolt.ended, [1, 2]);
  });

  it('lets a set wait that its instance sends before the plan is here', () => {
    const plan = aShuffle(1);
    const paths = new AckedDataPaths(plan);
    const after = updated(plan, { add: [['word', 1]] });
    paths.update(after, 2); // Nobody has it: there is no container 2.
    const spout = paths.register(taskId(3));
    spout.emitRoot(7n);
    paths.settle();
    assert.equal(paths.instance(2).tuples.length, 0);
    assert.ok(paths.pathOf(1).holdings.heldBytes > 0);
    paths.update(after);
    paths.settle();
    ackAll(paths, 2);
    assert.deepEqual(spout.acked, [7n]);
    assert.equal(paths.pathOf(1).holdings.heldBytes, 0);
  });
});

describe('a plan with one more spout', () => {
  it('S07: has its acks come back, also from where the plan comes later than its tuples', () => {
    const plan = aPair(2);
    const paths = new AckedDataPaths(plan);
    const after = updated(plan, { add: [['word', 1]] });
    paths.update(after, 1);
    const spout = paths.connect(taskId(3));
    for (const key of keys(1, 11)) spout.emitRoot(key);
    paths.settle();
    const bolt = paths.instance(2);
    bolt.fail(bolt.tuples.splice(3, 1)[0] ?? assert.fail('it has come'));
    ackAll(paths, 2);
    assert.deepEqual(spout.settledKeys, []);
    paths.update(after, 2);
    paths.settle();
    assert.deepEqual(spout.acked, [...keys(1, 4), ...keys(5, 11)]);
    assert.deepEqual(
      spout.failed.map(({ key }) => key),
      [4n],
    );
  });

  it('has trees that age and are held as those of the others', () => {
    const plan = aPair(2);
    const paths = new AckedDataPaths(plan, { timeoutMs: SECOND_MS });
    paths.update(updated(plan, { add: [['word', 1]] }));
    const spout = paths.connect(taskId(3));
    spout.emitRoot(7n);
    paths.pathOf(1).setHeld(new Set([taskId(3)]));
    paths.clock.advance(5 * SECOND_MS);
    assert.equal(spout.failed.length, 0);
    paths.pathOf(1).setHeld(new Set());
    paths.clock.advance(5 * SECOND_MS);
    assert.deepEqual(
      spout.failed.map(({ reason }) => reason.kind),
      ['time-out'],
    );
  });
});

describe('a stream manager', () => {
  it('that is new costs no tree with its first link, and those that reach it with its end', () => {
    const plan = aShuffle(2);
    const paths = new AckedDataPaths(plan);
    const spout = paths.instance(1);
    spout.emitRoot(1n);
    paths.settle();
    paths.update(updated(plan, { add: [['count', 3]] }));
    for (const key of keys(2, 6)) spout.emitRoot(key);
    paths.settle();
    paths.link(FIRST, THIRD);
    paths.link(SECOND, THIRD);
    const bolt = paths.connect(taskId(3));
    paths.settle();
    assert.equal(bolt.tuples.length, 2);
    assert.deepEqual(spout.failed, []);
    paths.cut(FIRST, THIRD);
    paths.settle();
    assert.equal(spout.failed.length, 5);
  });

  it('whose link came before the plan gets its tuples, and the marks of who has ended', () => {
    const plan = updated(aShuffle(2), { add: [['word', 1]] });
    const paths = new AckedDataPaths(plan);
    paths.instance(3).end();
    const after = updated(plan, { add: [['count', 3]] });
    paths.update(after, 2, 3);
    paths.link(FIRST, THIRD);
    paths.link(SECOND, THIRD);
    paths.update(after, 1);
    const bolt = paths.connect(taskId(4));
    for (const key of keys(1, 5)) paths.instance(1).emitRoot(key);
    paths.settle();
    assert.equal(bolt.tuples.length, 2);
    assert.deepEqual(bolt.ended, [3]);
    ackAll(paths, 2, 4);
    assert.equal(paths.instance(1).acked.length, 4);
  });

  it('that has left the plan costs no tree when its link ends, and is heard until then', () => {
    const plan = aShuffle(2, 1);
    const paths = new AckedDataPaths(plan);
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    for (const key of keys(1, 5)) spout.emitRoot(key);
    paths.settle();
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    bolt.ack(...bolt.tuples);
    bolt.consume();
    bolt.end();
    paths.clock.advance(SECOND_MS);
    paths.update(updated(retiring, { remove: [2] })); // What the link carries is behind the plan.
    paths.settle();
    assert.equal(spout.acked.length, 2);
    paths.cut(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(spout.failed, []);
    ackAll(paths, 3);
    assert.equal(spout.acked.length, 4);
  });
});
