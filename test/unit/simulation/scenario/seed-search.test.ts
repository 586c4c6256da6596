import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  searchSeeds,
  type SeedResult,
  type SeedSearchOptions,
  type SeedWorker,
} from '../../../../src/simulation/scenario/seed-search.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

type Answer = (seed: number) => Promise<SeedResult>;

const passes: Answer = (seed) => Promise.resolve({ seed, passed: true, report: '' });

function searching(answer: Answer, changes: Partial<SeedSearchOptions> = {}) {
  const workers: { readonly seeds: number[]; ended: number }[] = [];
  const results: SeedResult[] = [];
  const clock = new ManualClock();
  const startWorker = (): SeedWorker => {
    const worker = { seeds: [] as number[], ended: 0 };
    workers.push(worker);
    return {
      async run(seed) {
        worker.seeds.push(seed);
        return answer(seed);
      },
      end: () => void (worker.ended += 1),
    };
  };
  const outcome = searchSeeds({
    from: 10,
    seeds: 6,
    jobs: 2,
    seedsPerWorker: 100,
    limitMs: 1_000,
    startWorker,
    clock,
    onResult: (result) => void results.push(result),
    ...changes,
  });
  return { outcome, workers, results, clock };
}

test('each seed runs once, on all workers (W1)', async () => {
  const { outcome, workers, results } = searching(passes);
  assert.deepEqual(await outcome, { passed: 6, failed: [] });
  assert.equal(workers.length, 2);
  assert.deepEqual(
    results.map(({ seed }) => seed).toSorted((one, other) => one - other),
    [10, 11, 12, 13, 14, 15],
  );
  assert.ok(workers.every(({ ended }) => ended === 1));
});

test('failing seeds are named in order', async () => {
  const { outcome, results } = searching((seed) =>
    Promise.resolve({ seed, passed: seed !== 14 && seed !== 11, report: `${seed} is wrong` }),
  );
  assert.deepEqual(await outcome, { passed: 4, failed: [11, 14] });
  assert.equal(results.find(({ seed }) => seed === 14)?.report, '14 is wrong');
});

test('a seed whose worker dies has failed, and another worker goes on (W2)', async () => {
  const dies: Answer = (seed) =>
    seed === 12 ? Promise.reject(new Error('the worker has died')) : passes(seed);
  const { outcome, workers, results } = searching(dies, { jobs: 1 });
  assert.deepEqual(await outcome, { passed: 5, failed: [12] });
  assert.deepEqual(
    workers.map(({ seeds }) => seeds),
    [
      [10, 11, 12],
      [13, 14, 15],
    ],
  );
  const report = results.find(({ seed }) => seed === 12)?.report;
  assert.equal(report, 'seed 12 fails: the worker has died');
});

test('a worker that does not answer in time is ended (W2)', async () => {
  const hangs: Answer = (seed) => (seed === 10 ? new Promise(() => {}) : passes(seed));
  const { outcome, workers, results, clock } = searching(hangs, { jobs: 1, seeds: 2 });
  clock.advance(1_000);
  assert.deepEqual(await outcome, { passed: 1, failed: [10] });
  assert.equal(workers[0]?.ended, 1);
  assert.equal(results[0]?.report, 'seed 10 fails: it takes longer than 1000 ms of real time');
  assert.equal(clock.pendingTimers, 0);
});

test('workers are replaced after so many seeds (W3)', async () => {
  const { outcome, workers } = searching(passes, { jobs: 1, seedsPerWorker: 4 });
  await outcome;
  assert.deepEqual(
    workers.map(({ seeds }) => seeds.length),
    [4, 2],
  );
});

test('no more workers than seeds are started', async () => {
  const { outcome, workers } = searching(passes, { jobs: 8, seeds: 3 });
  await outcome;
  assert.equal(workers.length, 3);
});
