import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../../src/simulation/faults/fault.ts';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import { aBolt, aSpout, aWorkload } from '../../support/workload-descriptions.ts';

/* Faults of the engine that seeds have found: changes while the topology runs. */

const CAREFUL = { isAnchored: true, acksTwice: false, mishaps: [] } as const;
const EVERY_MS = 100;
const TUPLES = 20;

const workload = aWorkload({
  containers: 1,
  config: {
    'topology.reliability.mode': 'ATLEAST_ONCE',
    'topology.message.timeout.secs': '2',
  },
  spouts: [
    aSpout('words', {
      tuples: TUPLES,
      pace: { kind: 'trickle', everyMs: EVERY_MS },
      withMessageIds: true,
      replay: { afterMs: 0, endsEarly: false },
    }),
  ],
  bolts: [aBolt('count', ['words'], { acking: CAREFUL })],
});

/** The input ends within these, by the time of the plan of faults. */
const END_MS = EVERY_MS * TUPLES;

/** The plan of an update that is given within these is ready when the last task ends. */
const LATE_MS = { from: END_MS - 160, to: END_MS - 136, step: 2 } as const;

function grownAt(atMs: number): Fault {
  return { atMs, kind: 'command', command: 'update', component: 0, parallelism: 3 };
}

/**
 * Its stream manager did not hear of the plan with the new spouts. The old one came to its end, and
 * with it the bolt; what the new ones emitted had no reader, timed out and was emitted again, for
 * ever.
 */
test('new spouts do not begin when their readers have ended without knowing', async () => {
  const {
    problems,
    outcome,
    log = '',
  } = await runScenario({
    seed: 1,
    workload,
    hasChanges: true,
    faults: [
      {
        atMs: END_MS / 2,
        kind: 'partition',
        between: [['topology-master#0'], ['stream-manager#0']],
        oneWay: false,
        forMs: 9_000,
      },
      grownAt(END_MS / 2 + 200),
    ],
    keepsLog: true,
  });
  assert.deepEqual(problems, []);
  assert.equal(outcome, 'completed');
  assert.match(log, /count_\d+ +all input has ended/);
  assert.doesNotMatch(log, /words_[3-9] +the component is open/);
});

/**
 * A plan was decided on before the last task ended and stored after it: the topology was complete
 * and had new tasks, which began to emit while everything was being taken down.
 */
test('a topology does not complete while its next plan is being stored', async () => {
  for (let atMs = LATE_MS.from; atMs < LATE_MS.to; atMs += LATE_MS.step) {
    const { problems, outcome } = await runScenario({
      seed: 1,
      workload,
      hasChanges: true,
      faults: [grownAt(atMs)],
    });
    assert.deepEqual(problems, [], `update at ${atMs} ms`);
    assert.equal(outcome, 'completed');
  }
});
