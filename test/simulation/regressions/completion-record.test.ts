import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import { aBolt, aSpout, aWorkload } from '../../support/workload-descriptions.ts';

/* Faults of the engine that seeds have found: what the record of a completed topology says. */

const workload = aWorkload({
  spouts: [aSpout('words', { tuples: 100, pace: { kind: 'trickle', everyMs: 20 } })],
  bolts: [aBolt('count', ['words'])],
});

/**
 * Ends of processes were compared with the time of the first plan by the wall clock: after it had
 * been set back they seemed to have come before there was any data, and the record said
 * `completed`.
 */
test('a process that died after the wall clock was set back is in the record', async () => {
  const { problems, log = '' } = await runScenario({
    seed: 1,
    workload,
    faults: [
      { atMs: 800, kind: 'clock-step', byMs: -86_400_000 },
      { atMs: 1_000, kind: 'crash', processes: ['instance#0'] },
    ],
    keepsLog: true,
  });
  assert.deepEqual(problems, []);
  assert.match(log, /every task has ended result=completed-with-losses/);
});

/**
 * Only the executors' reports told of dead instances. One that could not be written, as the state
 * tree was away, lost the race against the record when the tree came back.
 */
test('a process that died while the state tree was away is in the record', async () => {
  for (let forMs = 1_300; forMs < 2_700; forMs += 200) {
    const { problems, log = '' } = await runScenario({
      seed: 1,
      workload,
      faults: [
        { atMs: 700, kind: 'store-outage', how: 'failing', forMs },
        { atMs: 900, kind: 'crash', processes: ['instance#0'] },
      ],
      keepsLog: true,
    });
    assert.deepEqual(problems, []);
    assert.match(log, /every task has ended result=completed-with-losses/, `away for ${forMs} ms`);
  }
});
