import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch, taskId } from '../../../src/base/ids.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { EndMarkers } from '../../../src/stream-manager/end-markers.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';

const PLAN = epoch(1);

describe('EndMarkers', () => {
  it('tells a first end from a repeated one', () => {
    const markers = new EndMarkers();
    assert.ok(markers.addLocal(taskId(4), PLAN));
    assert.ok(markers.addLocal(taskId(2), PLAN));
    assert.ok(!markers.addLocal(taskId(4), PLAN));
    assert.deepEqual(markers.localTasks(), [4, 2]);
  });

  it('knows the end of a remote task only where its marker has arrived', () => {
    const markers = new EndMarkers();
    markers.addRemote(taskId(1), taskId(8));
    markers.addRemote(taskId(1), taskId(8));
    markers.addRemote(taskId(2), taskId(8));
    assert.deepEqual(markers.remoteTasksFor(taskId(8)), [1, 2]);
    assert.deepEqual(markers.remoteTasksFor(taskId(9)), []);
  });

  it('knows whether anything may still come for a task here', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word')])]);
    const plan = new PlanIndex(aPlanOf(topology, ['word', 1], ['word', 2], ['count', 1]));
    const [local, remote, count] = [taskId(1), taskId(2), taskId(3)];
    const markers = new EndMarkers();
    const all = (): boolean => true;
    const onlyLocal = (source: number): boolean => source === local;
    assert.ok(markers.awaitsTuplesFor(count, plan, all));
    assert.ok(markers.awaitsTuplesFor(count, plan, onlyLocal));
    assert.ok(!markers.awaitsTuplesFor(local, plan, all), 'nobody sends to a spout');
    markers.addLocal(local, PLAN);
    assert.ok(markers.awaitsTuplesFor(count, plan, all));
    assert.ok(!markers.awaitsTuplesFor(count, plan, onlyLocal));
    markers.addRemote(remote, count);
    assert.ok(!markers.awaitsTuplesFor(count, plan, all));
    assert.deepEqual(markers.upstreamOf(count, plan), [local, remote]);
  });

  it('knows which local tasks have ended', () => {
    const markers = new EndMarkers();
    markers.addRemote(taskId(1), taskId(8));
    markers.addLocal(taskId(4), PLAN);
    assert.deepEqual(
      [1, 4, 8].map((task) => markers.hasLocal(taskId(task))),
      [false, true, false],
    );
  });

  it('knows of local tasks that send no more to one that retires', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word')])]);
    const plan = new PlanIndex(aPlanOf(topology, ['word', 1], ['word', 1], ['count', 1]));
    const [ended, sending, count] = [taskId(1), taskId(2), taskId(3)];
    const markers = new EndMarkers();
    markers.addLocal(ended, PLAN);
    assert.deepEqual(
      [ended, sending, sending].map((task) => markers.addLocalFor(task, count, PLAN)),
      [false, true, false],
    );
    assert.ok(markers.hasLocalFor(sending, count));
    assert.ok(!markers.hasLocal(sending));
    assert.deepEqual(markers.upstreamOf(count, plan), [ended, sending]);
    markers.addLocal(sending, PLAN);
    assert.deepEqual(markers.upstreamOf(count, plan), [ended, sending]);
    assert.ok(!markers.awaitsTuplesFor(count, plan, () => true));
  });

  it('forgets a task that left the plan, as a source and as a destination', () => {
    const markers = new EndMarkers();
    const [one, two, three] = [taskId(1), taskId(2), taskId(3)];
    for (const task of [one, two]) markers.addLocal(task, PLAN);
    for (const task of [two, three]) markers.addRemote(one, task);
    markers.addRemote(two, three);
    markers.addLocalFor(three, two, PLAN);
    markers.forget(two);
    assert.deepEqual(markers.localTasks(), [one]);
    assert.deepEqual(
      [two, three].map((task) => markers.remoteTasksFor(task)),
      [[], [one]],
    );
    assert.ok(!markers.hasLocalFor(three, two));
  });

  it('says by which plan a local task has ended, first of all towards one that retires', () => {
    const markers = new EndMarkers();
    const [source, retiring, other] = [taskId(1), taskId(7), taskId(8)];
    markers.addLocalFor(source, retiring, epoch(3));
    markers.addLocal(source, epoch(5));
    markers.addLocal(source, epoch(6));
    assert.equal(markers.planEpochOf(source, retiring), 3);
    assert.equal(markers.planEpochOf(source, other), 5);
    assert.equal(markers.planEpochOf(other, retiring), undefined);
  });

  it('keeps a marker that came ahead of its plan until that is in force', () => {
    const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word')])]);
    const plan = aPlanOf(topology, ['word', 1], ['word', 1], ['count', 1]);
    const by = (planEpoch: number) => new PlanIndex({ ...plan, epoch: epoch(planEpoch) });
    const end = (source: number, planEpoch: number) => ({
      source: taskId(source),
      destination: taskId(3),
      planEpoch,
    });
    const markers = new EndMarkers();
    markers.addEarly(end(1, 4));
    markers.addEarly(end(2, 5));
    assert.deepEqual(markers.upstreamOf(taskId(3), by(3)), []);
    assert.deepEqual(markers.takeEarly(by(3)), []);
    assert.deepEqual(markers.takeEarly(by(4)), [end(1, 4)]);
    assert.deepEqual(markers.takeEarly(by(4)), []);
    markers.forget(taskId(2));
    assert.deepEqual(markers.takeEarly(by(5)), []);
  });
});
