import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../src/base/random.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aMesh, aSetOf, LEASE_MS, MARKS, MeshedManager } from '../../support/pressure-mesh.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';

const CONCURRENT = new Map([['topology.bolt.concurrency', '10']]);

/* Tasks 1 to 4 in container 1, tasks 5 to 8 in container 2; two graphs that share nothing. */
const topology = aTopology([
  aSpout('word'),
  aSpout('number'),
  aBolt('split', [anInput('word')], { config: CONCURRENT }),
  aBolt('count', [anInput('split')]),
  aBolt('sum', [anInput('number')]),
]);
const plan = aPlanOf(
  topology,
  ...([
    ['word', 1],
    ['number', 1],
    ['split', 1],
    ['count', 1],
  ] as const),
  ...([
    ['word', 2],
    ['number', 2],
    ['count', 2],
    ['sum', 2],
  ] as const),
);
const [WORD_1, NUMBER_1, SPLIT, COUNT_1] = [1, 2, 3, 4] as const;
const [WORD_2, NUMBER_2, COUNT_2, SUM] = [5, 6, 7, 8] as const;
const SPOUTS = [WORD_1, NUMBER_1, WORD_2, NUMBER_2];

function twoManagers(...[overrides]: [Parameters<typeof aMesh>[2]?]) {
  const clock = new ManualClock();
  const [one, two] = aMesh(plan, clock, overrides);
  assert.ok(one !== undefined && two !== undefined);
  const end = (): void => {
    one.pressure.close();
    two.pressure.close();
    assert.equal(clock.pendingTimers, 0);
  };
  return { clock, one, two, end };
}

describe('back pressure', () => {
  it('stops the spouts that feed the slow component, everywhere, until it has caught up', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    assert.deepEqual(one.signals, [
      { kind: 'start', task: COUNT_2, component: 'count', leaseMs: LEASE_MS },
    ]);
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    clock.advance(10_000);
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    one.drain(COUNT_2);
    clock.runSoon();
    assert.deepEqual(one.signals.at(-1), { kind: 'stop', task: COUNT_2, component: 'count' });
    assert.deepEqual([one.held, two.held], [[], []]);
    assert.deepEqual(one.heldSets, [[WORD_1], []]);
    end();
  });

  it('stops all spouts with the scope all', () => {
    const { clock, one, two, end } = twoManagers({ scope: 'all' });
    one.flood(COUNT_2);
    clock.runSoon();
    assert.deepEqual([...one.held, ...two.held], SPOUTS);
    end();
  });

  it('begins when what was given to a task gets old, and ends when it is younger than half', () => {
    const { clock, one, end } = twoManagers();
    one.outbox(COUNT_1).add(aSetOf(10, 3));
    clock.advance(MARKS.ageMs);
    assert.deepEqual(one.held, []);
    clock.advance(MARKS.ageMs / 8);
    assert.deepEqual(one.held, [WORD_1]);
    one.outbox(COUNT_1).add(aSetOf(10, 3));
    one.outbox(COUNT_1).refill(10);
    clock.advance(MARKS.ageMs / 8);
    assert.deepEqual(one.held, []);
    end();
  });

  it('does not begin while a task has no more than it works on at once, for however long', () => {
    const { clock, one, end } = twoManagers();
    for (let calls = 0; calls < 20; calls += 1) one.outbox(SPLIT).add(aSetOf(10));
    one.outbox(COUNT_1).add(aSetOf(10));
    clock.advance(20 * MARKS.ageMs);
    assert.deepEqual(one.held, []);
    one.outbox(SPLIT).add(aSetOf(10));
    clock.advance(MARKS.ageMs / 8);
    assert.deepEqual(one.held, [WORD_1]);
    end();
  });

  it('begins when a task goes away and ends when it is back with little to do', () => {
    const { clock, one, two, end } = twoManagers();
    one.outbox(SPLIT).disconnect();
    clock.runSoon();
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    one.connect(SPLIT);
    clock.runSoon();
    assert.deepEqual([one.held, two.held], [[], []]);
    end();
  });

  it('does not begin for a task that goes away when nothing comes for it any more', () => {
    const { clock, one, end } = twoManagers();
    one.overTasks.add(SPLIT);
    one.outbox(SPLIT).disconnect();
    clock.advance(60_000);
    assert.deepEqual(one.signals, []);
    end();
  });

  it('is not for spouts that go away, nor for tasks that have not come yet', () => {
    const clock = new ManualClock();
    const manager = new MeshedManager('stmgr-1', plan, clock);
    manager.pressure.update(new PlanIndex(plan), manager.outboxes);
    clock.advance(10_000);
    manager.connect(WORD_1);
    manager.outbox(WORD_1).disconnect();
    clock.advance(10_000);
    assert.deepEqual(manager.signals, []);
  });

  it('is told to stream managers that link later, and may be told before there is a plan', () => {
    const clock = new ManualClock();
    const [one, two] = ['stmgr-1', 'stmgr-2'].map((id) => new MeshedManager(id, plan, clock));
    assert.ok(one !== undefined && two !== undefined);
    one.start();
    one.flood(COUNT_2);
    clock.runSoon();
    one.hearers.add(two);
    one.pressure.linkUp(two.id);
    clock.runSoon();
    assert.equal(two.pressure.view.holds.length, 1);
    assert.deepEqual(two.held, []);
    two.start();
    assert.deepEqual(two.held, [WORD_2]);
  });

  it('of a foreign stream manager holds all spouts, until stop or disconnect (R12)', () => {
    const { clock, one, two, end } = twoManagers();
    const nothing = { task: undefined, component: undefined };
    const start = { kind: 'start', ...nothing, leaseMs: undefined } as const;
    one.pressure.handleSignal(two.id, start);
    clock.advance(1_000_000);
    assert.deepEqual(one.held, [WORD_1, NUMBER_1]);
    one.pressure.handleSignal(two.id, { kind: 'stop', ...nothing });
    assert.deepEqual(one.held, []);
    one.pressure.handleSignal(two.id, start);
    one.pressure.linkDown(two.id);
    assert.deepEqual(one.held, []);
    end();
  });
});

describe('O01: the owner of back pressure dies or is cut off', () => {
  it('and spouts go on unaided within a lease, in 100 of 100 rounds', () => {
    const random = createSeededRandom(101);
    for (let round = 0; round < 100; round += 1) {
      const { clock, one, two } = twoManagers();
      one.flood(round % 2 === 0 ? COUNT_2 : SPLIT);
      clock.advance(random.below(3 * LEASE_MS));
      assert.deepEqual(two.held, [WORD_2]);
      // Killed, paused or cut off behind a half-open connection: nothing more is heard of it.
      one.hearers.clear();
      clock.advance(LEASE_MS);
      assert.deepEqual(two.held, [], `round ${round}`);
      assert.deepEqual(two.pressure.view.holds, []);
    }
  });

  it('and spouts go on at once when the connection is seen to end', () => {
    const { clock, one, two } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    two.pressure.linkDown(one.id);
    assert.deepEqual(two.held, []);
  });

  it('and holds stand as long as it lives, though each third renewal is lost', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    for (let renewal = 0; renewal < 30; renewal += 1) {
      if (renewal % 3 === 0) one.hearers.clear();
      else one.hearers.add(two);
      clock.advance(LEASE_MS / 3);
      assert.deepEqual(two.held, [WORD_2]);
    }
    end();
  });
});

describe('O02: system traffic', () => {
  it('never makes a task be behind: acks to spouts and markers to bolts are not counted', () => {
    const { clock, one, end } = twoManagers();
    for (const task of [WORD_1, COUNT_1]) {
      one.outbox(task).disconnect();
      for (let index = 0; index < 1_000; index += 1) one.outbox(task).add(aSetOf(100, 0));
    }
    one.connect(COUNT_1);
    clock.advance(1);
    one.outbox(COUNT_1).add(aSetOf(100_000, 0));
    clock.advance(20_000);
    assert.deepEqual(one.held, []);
    assert.ok(one.outbox(WORD_1).queuedBytes >= 100_000);
    end();
  });
});

describe('O03: only what is slow, and all that is', () => {
  it('the other of two independent graphs is never touched', () => {
    const { clock, one, two, end } = twoManagers();
    for (let round = 0; round < 50; round += 1) {
      one.flood(COUNT_1);
      two.flood(COUNT_2);
      clock.advance(200);
      one.drain(COUNT_1);
      two.drain(COUNT_2);
      clock.advance(200);
    }
    const held = [...one.heldSets, ...two.heldSets].flat();
    assert.deepEqual(new Set(held), new Set([WORD_1, WORD_2]));
    end();
  });

  it('of two slow bolts the release of one does not release the other', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_1);
    two.flood(COUNT_1);
    one.flood(SPLIT);
    clock.advance(200);
    one.drain(COUNT_1);
    clock.advance(200);
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    one.drain(SPLIT);
    clock.advance(200);
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    two.drain(COUNT_1);
    clock.advance(200);
    assert.deepEqual([one.held, two.held], [[], []]);
    end();
  });
});

describe('with topology.droptuples.upon.backpressure', () => {
  it('O05: nothing is announced and nobody holds, but the flag to drop by is kept', () => {
    const { clock, one, two, end } = twoManagers({ dropsTuples: true });
    one.flood(SUM);
    assert.ok(one.outbox(SUM).isBehind);
    clock.advance(10_000);
    assert.deepEqual([one.signals, one.held, two.held], [[], [], []]);
    one.drain(SUM);
    clock.advance(1_000);
    assert.ok(!one.outbox(SUM).isBehind);
    end();
  });
});

describe('what is told of back pressure', () => {
  it('is the time, by initiator, instance, component and stream manager', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.advance(400);
    two.flood(SUM);
    clock.advance(225); // To the next sample, which brings the counters up to date.
    const times = (manager: MeshedManager) =>
      Object.entries(manager.collect()).filter(([name]) => name.includes('time_spent'));
    assert.deepEqual(Object.fromEntries(times(one)), {
      '__server/__time_spent_back_pressure_initiated': 625,
      '__server/__time_spent_back_pressure_aggr': 625,
      '__server/__time_spent_back_pressure_by_remote_stmgr': 225,
      '__time_spent_back_pressure_by_compid/container_2_count_7': 625,
      '__time_spent_back_pressure_by_component/count/stmgr-1': 625,
      '__time_spent_back_pressure_by_component/sum/stmgr-2': 225,
    });
    assert.deepEqual(Object.fromEntries(times(two)), {
      '__server/__time_spent_back_pressure_initiated': 225,
      __time_spent_back_pressure_by_local_instance: 225,
      '__server/__time_spent_back_pressure_aggr': 625,
      '__server/__time_spent_back_pressure_by_remote_stmgr': 625,
      '__time_spent_back_pressure_by_compid/container_2_sum_8': 225,
      '__time_spent_back_pressure_by_component/count/stmgr-1': 625,
      '__time_spent_back_pressure_by_component/sum/stmgr-2': 225,
    });
    end();
  });

  it('is what waits for and is under way to the instances of the container', () => {
    const { one, end } = twoManagers();
    one.flood(SPLIT);
    assert.equal(
      one.collect()['__connection_buffer_by_instanceid/container_1_split_3/bytes'],
      1_500,
    );
    end();
  });

  it('is who is slow and why, in the log, at begin and end', () => {
    const { clock, one, end } = twoManagers();
    one.flood(COUNT_2);
    clock.advance(1_500);
    one.drain(COUNT_2);
    clock.runSoon();
    assert.deepEqual(one.log, [
      {
        message: 'a task is behind: spouts hold',
        fields: { component: 'count', task: COUNT_2, cause: 'bytes', bytes: 500, ageMs: 0 },
      },
      {
        message: 'a task has caught up: spouts go on',
        fields: { component: 'count', task: COUNT_2, bytes: 0, ageMs: 0, heldMs: 1_500 },
      },
    ]);
    end();
  });

  it('is one line in ten seconds of a task that goes back and forth', () => {
    const { clock, one, end } = twoManagers();
    for (let round = 0; round < 100; round += 1) {
      one.flood(COUNT_2);
      clock.advance(100);
      one.drain(COUNT_2);
      clock.advance(100);
    }
    const begins = one.log.filter(({ message }) => message.startsWith('a task is behind'));
    assert.equal(begins.length, 2);
    assert.equal(begins[1]?.fields?.['timesBefore'], 49);
    assert.equal(one.log.length, 4, 'and one at the end of each');
    end();
  });
});
