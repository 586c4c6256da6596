import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aPair, FIRST, placeOf, SECOND } from '../../support/tree-plans.ts';
import { updated } from '../../support/updated-plans.ts';

const SECOND_MS = 1_000;
const WITHOUT_DESTINATION = '__server/__tuples_without_destination';

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

describe('a task that retires', () => {
  for (const container of [1, 2]) {
    it(`in container ${container} gets a marker behind its last tuple, and no tuple more`, () => {
      const plan = aShuffle(container, 1);
      const paths = new AckedDataPaths(plan);
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      for (const key of keys(1, 11)) spout.emitRoot(key);
      // In the same turn: what is open for it has not left yet.
      paths.update(updated(plan, { retire: [2] }));
      for (const key of keys(11, 21)) spout.emitRoot(key);
      paths.settle();
      assert.equal(bolt.tuples.length, 5);
      assert.deepEqual(bolt.ended, [1]);
      assert.ok(bolt.sets.at(-1)?.endOfInput);
      assert.equal(paths.instance(3).tuples.length, 15);
      assert.deepEqual(paths.instance(3).ended, []);
      ackAll(paths, 2, 3);
      assert.equal(spout.acked.length, 20);
      assert.deepEqual(spout.failed, []);
    });
  }

  it('moves without leaving its readers behind, whoever hears of it first', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    const moved = updated(plan, { retire: [1], add: [['word', 2]] });
    paths.update(moved, 1);
    paths.instance(1).end();
    paths.settle();
    assert.deepEqual(paths.instance(2).ended, [], 'it does not know of the new spout yet');
    paths.update(moved, 2);
    paths.settle();
    assert.deepEqual(paths.instance(2).ended, [1]);
  });

  it('has ended by the plan before: its marker waits for nothing', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    paths.instance(1).end();
    paths.update(updated(plan, { retire: [1], add: [['word', 2]] }), 1);
    paths.settle();
    assert.deepEqual(paths.instance(2).ended, [1]);
  });

  it('that comes too late to begin has ended for all that reads from it', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    const grown = updated(plan, { add: [['word', 1]] });
    const late = grown.instances.map((one) =>
      one.task === taskId(3) ? { ...one, isWithoutInput: true } : one,
    );
    paths.update({ ...grown, instances: late });
    paths.settle();
    assert.deepEqual(paths.instance(2).ended, [3]);
  });

  it('is told again of the end of all others when it comes back, and when its link does', () => {
    const plan = aShuffle(2, 1);
    const paths = new AckedDataPaths(plan);
    paths.update(updated(plan, { retire: [2] }));
    paths.settle();
    paths.cut(FIRST, SECOND);
    paths.link(FIRST, SECOND);
    paths.settle();
    assert.deepEqual(paths.instance(2).ended, [1, 1]);
    paths.kill(2);
    const again = paths.connect(taskId(2));
    paths.settle();
    assert.deepEqual(again.ended, [1]);
  });

  it('has retired when it has ended, has consumed all, and all of it has been consumed', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('split', ['word']),
      aBolt('count', ['split']),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['split', 1], ['split', 1], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    const [spout, split, count] = [paths.instance(1), paths.instance(2), paths.instance(4)];
    for (const key of keys(1, 5)) spout.emitRoot(key);
    paths.settle();
    paths.update(updated(plan, { retire: [2] }));
    paths.settle();
    for (const tuple of split.tuples) split.emit([tuple.roots]);
    split.ack(...split.tuples);
    split.end();
    paths.settle();
    paths.clock.advance(SECOND_MS);
    assert.deepEqual(paths.retired, []);
    split.consume();
    paths.settle();
    paths.clock.advance(SECOND_MS);
    assert.deepEqual(paths.retired, []); // Its tuples are with `count`.
    count.consume();
    paths.settle();
    paths.clock.advance(SECOND_MS);
    assert.deepEqual(paths.retired, [2]);
    assert.deepEqual(count.ended, [2]);
  });

  it('has retired although it had ended before the plan that takes it away', () => {
    const plan = aShuffle(1, 1);
    const paths = new AckedDataPaths(plan);
    paths.instance(2).end();
    paths.update(updated(plan, { retire: [2] }));
    paths.clock.advance(SECOND_MS);
    assert.deepEqual(paths.retired, [2]);
  });

  it('gets nothing that names it: such trees fail, and the others of the tuple get theirs', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'direct' })]),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 2], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    const spout = paths.instance(1);
    spout.emit([[{ taskid: 1, key: 7n }]], { destinations: [2] });
    spout.emit([[{ taskid: 1, key: 8n }]], { destinations: [2, 3] });
    spout.emit([[]], { destinations: [2] });
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ key, reason }) => [key, ...placeOf(reason)]),
      [
        [7n, 'dropped', 'count', 2],
        [8n, 'dropped', 'count', 2],
      ],
    );
    assert.equal(paths.count(1, WITHOUT_DESTINATION), 3);
    assert.equal(paths.instance(3).tuples.length, 1);
    assert.deepEqual(paths.instance(2).tuples, []);
    paths.update(updated(retiring, { remove: [2] }));
    spout.emit([[{ taskid: 1, key: 9n }]], { destinations: [2] });
    paths.settle();
    assert.deepEqual(placeOf(spout.failed.at(-1)?.reason ?? assert.fail()), [
      'dropped',
      undefined,
      2,
    ]);
  });
});

describe('a task that is gone', () => {
  it('costs no tree when it had retired, though credit for it was still on its way', () => {
    const plan = aShuffle(2, 1);
    const paths = new AckedDataPaths(plan);
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    for (const key of keys(1, 5)) spout.emitRoot(key);
    paths.settle();
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    ackAll(paths, 3);
    bolt.consume();
    bolt.end();
    paths.clock.advance(SECOND_MS); // The credit is on the link.
    assert.deepEqual(paths.retired, [2]);
    assert.ok(Number(paths.pathOf(1).outboxes.get(taskId(2))?.underWayBytes) > 0);
    const gone = updated(retiring, { remove: [2] });
    paths.update(gone);
    bolt.ack(...bolt.tuples); // In the turn of its end; the link carries it all the same.
    paths.settle();
    assert.deepEqual(spout.failed, []);
    assert.equal(paths.pathOf(1).outboxes.has(taskId(2)), false);
    assert.equal(paths.pathOf(2).holdings.destinations.length, 0);
  });

  it('before its end fails the trees of what waited for it, and lets its sources go on', () => {
    const plan = aShuffle(1, 1);
    const paths = new AckedDataPaths(plan, { peerWindowBytes: 100 });
    const spout = paths.instance(1);
    for (const key of keys(1, 21)) {
      spout.emitRoot(key);
      paths.settle();
    }
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    const waiting = paths.pathOf(1).outboxes.get(taskId(2))?.tuplesOut ?? 0;
    const taken = paths.instance(2).tuples.length;
    assert.ok(waiting > taken);
    paths.update(updated(retiring, { remove: [2] }));
    paths.settle();
    assert.equal(spout.failed.length, waiting - taken);
    assert.deepEqual(
      new Set(spout.failed.map(({ reason }) => reason.kind)),
      new Set(['lost-instance']),
    );
    assert.equal(paths.count(1, WITHOUT_DESTINATION), waiting - taken);
    for (let round = 0; round < 21; round += 1) ackAll(paths, 3);
    assert.equal(spout.settledKeys.length, 10 + waiting - taken);
  });

  it('before its end costs all trees that may have had tuples there, where none times out', () => {
    const plan = aShuffle(2, 1);
    const paths = new AckedDataPaths(plan, { timeoutMs: undefined });
    const spout = paths.instance(1);
    for (const key of keys(1, 5)) spout.emitRoot(key);
    paths.settle();
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    paths.update(updated(retiring, { remove: [2] }));
    paths.settle();
    paths.clock.advance(SECOND_MS);
    assert.equal(spout.settledKeys.length, 4);
  });

  it('says nothing any more, whatever its instance sends until it ends', () => {
    const plan = aShuffle(1, 1);
    const paths = new AckedDataPaths(plan);
    const bolt = paths.instance(2);
    paths.instance(1).emitRoot(7n);
    paths.settle();
    const retiring = updated(plan, { retire: [2] });
    paths.update(retiring);
    bolt.consume();
    bolt.end();
    paths.clock.advance(SECOND_MS);
    paths.update(updated(retiring, { remove: [2] }));
    bolt.end();
    bolt.sendSet({ consumedBytes: 5n });
    paths.pathOf(1).instanceLost(bolt.session);
    assert.equal(paths.pathOf(1).hasEnded(taskId(2)), false);
    assert.equal(paths.pathOf(1).holdings.heldBytes, 0);
  });

  it('leaves no trees and no timers, when it is a spout', () => {
    const plan = updated(aPair(2), { add: [['word', 1]] });
    const paths = new AckedDataPaths(plan);
    const timers = paths.clock.pendingTimers;
    paths.instance(3).emitRoot(7n);
    paths.settle();
    const retiring = updated(plan, { retire: [3] });
    paths.update(retiring);
    paths.update(updated(retiring, { remove: [3] }));
    assert.equal(paths.liveTrees(), 0);
    assert.equal(paths.pathOf(1).liveTreesOf(taskId(3)), 0);
    assert.equal(paths.clock.pendingTimers, timers);
    ackAll(paths, 2);
    assert.equal(paths.count(2, '__server/__acks_without_tree'), 1);
  });
});
