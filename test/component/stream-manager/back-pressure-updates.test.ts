import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aMesh } from '../../support/pressure-mesh.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { updated } from '../../support/updated-plans.ts';

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
const [WORD_1, NUMBER_1, COUNT_1] = [1, 2, 4] as const;
const [WORD_2, NUMBER_2, COUNT_2] = [5, 6, 7] as const;

function twoManagers() {
  const clock = new ManualClock();
  const [one, two] = aMesh(plan, clock);
  assert.ok(one !== undefined && two !== undefined);
  const end = (): void => {
    one.pressure.close();
    two.pressure.close();
    assert.equal(clock.pendingTimers, 0);
  };
  return { clock, one, two, end };
}

describe('back pressure when the plan changes', () => {
  it('goes on as it was for tasks that stay, without a word', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    const signals = one.signals.length;
    const after = updated(plan, { add: [['sum', 1]] });
    for (const manager of [one, two]) manager.update(after);
    clock.runSoon();
    assert.deepEqual([one.held, two.held], [[WORD_1], [WORD_2]]);
    assert.equal(one.signals.length, signals);
    assert.deepEqual(two.heldSets, [[WORD_2]]);
    one.drain(COUNT_2);
    clock.runSoon();
    assert.deepEqual([one.held, two.held], [[], []]);
    end();
  });

  it('holds new spouts as well, and is begun by new tasks', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    const after = updated(plan, {
      add: [
        ['word', 2],
        ['sum', 1],
      ],
    });
    const [newWord, newSum] = [9, 10];
    for (const manager of [one, two]) manager.update(after);
    assert.deepEqual(two.held, [WORD_2, newWord]);
    assert.deepEqual(two.heldSets.at(-1), [WORD_2, newWord]);
    one.drain(COUNT_2);
    clock.runSoon();
    two.flood(newSum);
    clock.runSoon();
    assert.deepEqual([one.held, two.held], [[NUMBER_1], [NUMBER_2]]);
    two.drain(newSum);
    clock.runSoon();
    end();
  });

  it('is over at once for a task that retires, and does not begin for it again', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    const retiring = updated(plan, { retire: [COUNT_2] });
    for (const manager of [one, two]) manager.update(retiring);
    clock.runSoon();
    assert.deepEqual(one.signals.at(-1), { kind: 'stop', task: COUNT_2, component: 'count' });
    assert.deepEqual([one.held, two.held], [[], []]);
    one.outbox(COUNT_2).disconnect();
    clock.advance(60_000);
    assert.deepEqual([one.held, two.held], [[], []]);
    const counted = one.collect()['__server/__time_spent_back_pressure_initiated'];
    assert.ok(counted === undefined || counted < 60_000);
    end();
  });

  it('is over for a task that retires although its owner does not know that yet', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_2);
    clock.runSoon();
    two.update(updated(plan, { retire: [COUNT_2] }));
    assert.deepEqual([one.held, two.held], [[WORD_1], []]);
    one.drain(COUNT_2);
    clock.runSoon();
    end();
  });

  it('has no numbers of a task that is gone, once they have been collected', () => {
    const { clock, one, two, end } = twoManagers();
    one.flood(COUNT_1);
    clock.runSoon();
    const retiring = updated(plan, { retire: [COUNT_1] });
    for (const next of [retiring, updated(retiring, { remove: [COUNT_1] })]) {
      for (const manager of [one, two]) manager.update(next);
    }
    one.collect();
    const names = one.metrics.collect().map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => name.includes('count_4')),
      [],
    );
    assert.ok(names.some((name) => name.includes('split_3')));
    end();
  });
});
