import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import { aBolt, aSpout, aWorkload } from '../../support/workload-descriptions.ts';

/* Faults of the engine that seeds have found: the end of a topology while the disk fails. */

const workload = aWorkload({
  spouts: [aSpout('words', { tuples: 20 })],
  bolts: [aBolt('count', ['words'])],
});

/** A topology of this workload completes and is taken down within these. */
const END_MS = { from: 96, to: 130, step: 2 } as const;

/**
 * A scheduler that could not remove the last nodes ended, and since the folder was gone that said
 * what it had been doing, no command took the topology for one that was half taken down.
 */
test('a store that is away at the end of a topology leaves nothing behind', async () => {
  for (let atMs = END_MS.from; atMs < END_MS.to; atMs += END_MS.step) {
    for (const forMs of [30, 20_000]) {
      const faults = [{ atMs, kind: 'store-outage', how: 'failing', forMs }] as const;
      const { problems, outcome } = await runScenario({ seed: 1, workload, faults });
      assert.deepEqual(problems, [], `outage at ${atMs} ms for ${forMs} ms`);
      assert.equal(outcome, 'completed');
    }
  }
});

/** The counter of epochs was removed after what leads to it, and stayed when that failed. */
test('a disk that is full at the end of a topology leaves nothing behind', async () => {
  for (let atMs = END_MS.from; atMs < END_MS.to; atMs += END_MS.step) {
    const faults = [{ atMs, kind: 'full-disk', forMs: 30 }] as const;
    const { problems, outcome } = await runScenario({ seed: 1, workload, faults });
    assert.deepEqual(problems, [], `full at ${atMs} ms`);
    assert.equal(outcome, 'completed');
  }
});
