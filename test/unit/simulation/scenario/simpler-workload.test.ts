import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simplerWorkloads } from '../../../../src/simulation/scenario/simpler-workload.ts';
import { aBolt, aSpout, aWorkload } from '../../../support/workload-descriptions.ts';

const workload = aWorkload({
  containers: 3,
  spouts: [aSpout('s1', { tuples: 100, parallelism: 2 }), aSpout('s2', { tuples: 7 })],
  bolts: [
    aBolt('b1', ['s1']),
    aBolt('b2', ['b1', 's2'], { faults: [{ kind: 'throw', taskIndex: 0, atCall: 3 }] }),
    aBolt('b3', ['b1']),
  ],
});

type Workload = ReturnType<typeof aWorkload>;

function namesOf({ spouts, bolts }: Workload): string {
  return [...spouts, ...bolts].map(({ name }) => name).join(' ');
}

test('each component in turn is left out, with what reads nothing else', () => {
  const all = namesOf(workload);
  const left = simplerWorkloads(workload)
    .map(namesOf)
    .filter((names) => names !== all);
  assert.deepEqual(left, ['s1 s2 b1 b2', 's1 s2 b1 b3', 's1 s2 b2', 's1 b1 b2 b3', 's2 b2']);
});

test('inputs from what is left out go too', () => {
  const without = simplerWorkloads(workload).find((simpler) => namesOf(simpler) === 's2 b2');
  assert.deepEqual(
    without?.bolts[0]?.inputs.map(({ component }) => component),
    ['s2'],
  );
});

test('then user faults, half of the tuples, parallelism and containers', () => {
  const [noFaults, fewer, single, oneContainer, ...more] = simplerWorkloads(workload).slice(5);
  assert.ok(noFaults?.bolts.every(({ faults }) => faults.length === 0));
  assert.deepEqual(
    fewer?.spouts.map(({ tuples }) => tuples),
    [50, 3],
  );
  assert.ok(single?.spouts.every(({ parallelism }) => parallelism === 1));
  assert.equal(oneContainer?.containers, 1);
  assert.deepEqual(more, []);
});

test('the simplest one has nothing simpler', () => {
  const simplest = aWorkload({ containers: 1, spouts: [aSpout('s', { tuples: 1 })], bolts: [] });
  assert.deepEqual(simplerWorkloads(simplest), []);
});

test('no container is left without a task', () => {
  const wide = aWorkload({ containers: 2, spouts: [aSpout('s')], bolts: [aBolt('b', ['s'])] });
  const [withoutBolt] = simplerWorkloads(wide);
  assert.equal(withoutBolt?.bolts.length, 0);
  assert.equal(withoutBolt?.containers, 1);
});
