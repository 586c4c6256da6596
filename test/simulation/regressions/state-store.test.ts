import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import { aBolt, aSpout, aWorkload } from '../../support/workload-descriptions.ts';

/* Faults of the engine that seeds have found: the state tree on a disk that fails. */

const workload = aWorkload({
  containers: 2,
  spouts: [aSpout('words', { parallelism: 2, tuples: 40 })],
  bolts: [aBolt('count', ['words'], { parallelism: 2 })],
});

/** A start makes its locks within these. */
const START_MS = { from: 20, to: 120, step: 2 } as const;

/**
 * The removal of a lock that failed once left the lock in place for the life of its holder, a
 * topology master for one, which then waited two minutes for itself.
 */
test('a lock that could not be removed does not outlast the outage', async () => {
  for (let atMs = START_MS.from; atMs < START_MS.to; atMs += START_MS.step) {
    const faults = [{ atMs, kind: 'store-outage', how: 'failing', forMs: 200 }] as const;
    const { problems, simulatedMs } = await runScenario({ seed: 164, workload, faults });
    assert.deepEqual(problems, [], `outage at ${atMs} ms`);
    assert.ok(simulatedMs < 30_000, `outage at ${atMs} ms: it took ${simulatedMs} ms`);
  }
});

/** Whoever saw a node's owner before its bytes took it for a left-over, and said so. */
test('no node is called that of a dead process where none has died', async () => {
  const { log = '' } = await runScenario({ seed: 1, workload, faults: [], keepsLog: true });
  assert.match(log, /the topology master serves/);
  assert.doesNotMatch(log, /state node of a dead process/);
});
