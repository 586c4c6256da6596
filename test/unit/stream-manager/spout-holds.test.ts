import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentName, streamManagerId, taskId } from '../../../src/base/ids.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import type { Hold } from '../../../src/stream-manager/hold-book.ts';
import { type HeldSession, SpoutHolds } from '../../../src/stream-manager/spout-holds.ts';
import { UpstreamSpouts } from '../../../src/stream-manager/upstream-spouts.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { updated } from '../../support/updated-plans.ts';

const topology = aTopology([
  aSpout('left'),
  aSpout('right'),
  aBolt('slow', [anInput('left')]),
  aBolt('lazy', [anInput('left'), anInput('right')]),
]);
const plan = new PlanIndex(aPlanOf(topology, ['left', 1], ['right', 1], ['slow', 1], ['lazy', 1]));
const [LEFT, RIGHT] = [taskId(1), taskId(2)];

function aHold(component: string | undefined, streamManager = 'stmgr-1'): Hold {
  return {
    streamManager: streamManagerId(streamManager),
    task: component === undefined ? undefined : taskId(3),
    component: component === undefined ? undefined : componentName(component),
    sinceMs: 0,
    untilMs: undefined,
  };
}

class Told implements HeldSession {
  readonly all: (string | undefined)[] = [];

  setHeld(cause: Parameters<HeldSession['setHeld']>[0]): void {
    this.all.push(cause && `${cause.component ?? 'all'} by ${cause.streamManager}`);
  }
}

function aContainer() {
  const clock = new ManualClock();
  const changes: number[][] = [];
  const holds = new SpoutHolds({ clock, onChange: (held) => changes.push([...held]) });
  const [left, right] = [new Told(), new Told()];
  holds.update(new UpstreamSpouts(plan, streamManagerId('stmgr-1'), 'upstream'), []);
  holds.connect(LEFT, left);
  holds.connect(RIGHT, right);
  clock.runSoon();
  return { clock, changes, holds, left, right };
}

describe('SpoutHolds', () => {
  it('tells the spouts that a hold reaches, and no others', () => {
    const { changes, holds, left, right } = aContainer();
    const hold = aHold('slow');
    assert.ok(holds.add(hold));
    holds.remove(hold);
    assert.deepEqual(left.all, ['slow by stmgr-1', undefined]);
    assert.deepEqual(right.all, []);
    assert.deepEqual(changes, [[LEFT], []]);
  });

  it('O03: lets a spout go on when the last of several reasons is over', () => {
    const { changes, holds, left, right } = aContainer();
    const [slow, lazy, again] = [aHold('slow'), aHold('lazy'), aHold('slow', 'stmgr-2')];
    for (const hold of [slow, lazy, again]) holds.add(hold);
    holds.remove(slow);
    holds.remove(lazy);
    assert.deepEqual([...holds.held], [LEFT]);
    assert.deepEqual(right.all, ['lazy by stmgr-1', undefined]);
    holds.remove(again);
    assert.deepEqual(left.all, [
      'slow by stmgr-1',
      'lazy by stmgr-1',
      'slow by stmgr-2',
      undefined,
    ]);
    assert.deepEqual(changes, [[LEFT], [LEFT, RIGHT], [LEFT], []]);
  });

  it('does not tell a spout again while the reason that it knows stands', () => {
    const { holds, left } = aContainer();
    const [slow, lazy] = [aHold('slow'), aHold('lazy')];
    holds.add(slow);
    holds.add(lazy);
    holds.remove(lazy);
    assert.deepEqual(left.all, ['slow by stmgr-1']);
  });

  it('tells every new connection of a spout that holds, after the answer to it', () => {
    const { clock, holds, left } = aContainer();
    holds.add(aHold('slow'));
    holds.disconnect(LEFT);
    const next = new Told();
    holds.connect(LEFT, next);
    assert.deepEqual(next.all, []);
    clock.runSoon();
    assert.deepEqual(next.all, ['slow by stmgr-1']);
    assert.deepEqual(left.all, ['slow by stmgr-1']);
  });

  it('tells a connection nothing that is over, or that belongs to the next one', () => {
    const { clock, holds } = aContainer();
    const hold = aHold('slow');
    holds.add(hold);
    const [early, late] = [new Told(), new Told()];
    holds.connect(LEFT, early);
    holds.connect(LEFT, late);
    clock.runSoon();
    assert.deepEqual(early.all, []);
    assert.deepEqual(late.all, ['slow by stmgr-1']);
    const last = new Told();
    holds.connect(LEFT, last);
    holds.remove(hold);
    clock.runSoon();
    assert.deepEqual(last.all, [undefined]);
  });

  it('follows a newer plan: new spouts hold, those that are gone are told nothing', () => {
    const { clock, changes, holds, left, right } = aContainer();
    const [slow, lazy] = [aHold('slow'), aHold('lazy', 'stmgr-2')];
    for (const hold of [slow, lazy]) holds.add(hold);
    const after = new PlanIndex(updated(plan.plan, { add: [['left', 1]], remove: [RIGHT] }));
    holds.disconnect(RIGHT);
    const added = new Told();
    holds.connect(taskId(5), added);
    clock.runSoon();
    assert.deepEqual(added.all, []);
    holds.update(new UpstreamSpouts(after, streamManagerId('stmgr-1'), 'upstream'), [lazy, slow]);
    assert.deepEqual(added.all, ['lazy by stmgr-2']);
    assert.deepEqual(right.all, ['lazy by stmgr-2']);
    assert.deepEqual(changes.at(-1), [LEFT, 5]);
    holds.remove(lazy);
    holds.remove(slow);
    assert.deepEqual(added.all, ['lazy by stmgr-2', 'slow by stmgr-1', undefined]);
    assert.deepEqual(left.all.at(-1), undefined);
    assert.equal(holds.held.size, 0);
  });

  it('tells a spout nothing when the newer plan changes nothing for it', () => {
    const { changes, holds, left } = aContainer();
    const slow = aHold('slow');
    holds.add(slow);
    const after = new PlanIndex(updated(plan.plan, { add: [['slow', 2]] }));
    holds.update(new UpstreamSpouts(after, streamManagerId('stmgr-1'), 'upstream'), [slow]);
    assert.deepEqual(left.all, ['slow by stmgr-1']);
    assert.equal(changes.length, 1);
  });
});
