import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clusterFaults } from '../../src/simulation/faults/cluster-faults.ts';
import { SimulatedRun } from '../support/simulated-run.ts';
import { simulatedWordCount } from '../support/simulated-word-count.ts';

/* Links that swallow what they are given, without a word: O35, by the default limit. */

const SILENCE_MS = 10_000;
/** Looks for silence are a second apart, and dials take a moment. */
const NOTICED_MS = SILENCE_MS + 3_000;

async function aRun(): Promise<SimulatedRun> {
  const run = new SimulatedRun(simulatedWordCount({ isEndless: true }));
  await run.untilCounted(50);
  return run;
}

/** The numbers of the connections between two processes. */
function between(run: SimulatedRun, one: string, other: string): readonly number[] {
  return run.cluster.machine.network.connectionsBetween([one], [other]);
}

suite('a black hole', () => {
  for (const [one, other] of [
    ['stmgr-1', 'stmgr-2'],
    ['container_1_words_1', 'stmgr-1'],
    ['container_2_count_4', 'stmgr-2'],
  ] as const) {
    test(`between ${one} and ${other} costs their connection, which is made anew`, async () => {
      const run = await aRun();
      const before = between(run, one, other);
      assert.equal(before.length, 1);
      const heal = clusterFaults(run.cluster, () => {}).blackHole([[one], [other]]);
      await run.advance(SILENCE_MS - 3_000);
      assert.deepEqual(between(run, one, other), before);
      await run.advance(NOTICED_MS - SILENCE_MS + 3_000);
      assert.deepEqual(between(run, one, other), [], 'both have given it up');
      heal();
      await run.until(() => between(run, one, other).length === 1);
      await run.untilCounted(200);
      assert.deepEqual(run.cluster.exits(), []);
    });
  }

  test('that is none: links on which there is nothing to say stay for good', async () => {
    const run = await aRun();
    const links = [
      ...between(run, 'stmgr-1', 'stmgr-2'),
      ...between(run, 'container_1_words_1', 'stmgr-1'),
    ];
    await run.settled(run.cluster.command.deactivate());
    await run.advance(5 * SILENCE_MS);
    const now = [
      ...between(run, 'stmgr-1', 'stmgr-2'),
      ...between(run, 'container_1_words_1', 'stmgr-1'),
    ];
    assert.deepEqual(now, links);
  });

  test('is not what a machine finds that has slept (O21)', async () => {
    const run = await aRun();
    const { cluster } = run;
    const links = between(run, 'stmgr-1', 'stmgr-2');
    const names = cluster.processes().map(({ name }) => name);
    for (const name of names) cluster.pause(name);
    await run.advance(10 * SILENCE_MS);
    for (const name of names) cluster.resume(name);
    await run.advance(3 * SILENCE_MS);
    assert.deepEqual(between(run, 'stmgr-1', 'stmgr-2'), links);
    await run.untilCounted(200);
  });
});
