import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SimulatedRun } from '../support/simulated-run.ts';
import { simulatedWordCount, WORDS } from '../support/simulated-word-count.ts';

/* The whole engine on a simulated machine: real processes but for what they stand on. */

const ROUNDS = 100;
const EXPECTED_TUPLES = 2 * ROUNDS * WORDS.length;

for (const quickStart of [false, true]) {
  suite(quickStart ? 'a quick start' : 'a full start', () => {
    test('word count completes with exact counts and leaves nothing', async () => {
      const run = new SimulatedRun(simulatedWordCount({ rounds: ROUNDS }), { quickStart });
      const { cluster, words } = run;
      await run.until(() => cluster.isGone);
      await run.submitted;
      assert.equal(cluster.completion()?.result, 'completed');
      assert.equal(words.counted(), EXPECTED_TUPLES);
      assert.equal(words.counts.get('the'), 2 * 2 * ROUNDS);
      assert.equal(words.counts.get('fox'), 2 * ROUNDS);
      assert.deepEqual(cluster.leftovers(), { processes: [], stateNodes: [], files: [] });
      assert.deepEqual(
        cluster.exits().filter(({ code }) => code !== 0),
        [],
      );
    });

    test('the same seed gives the same run to the byte, another seed another one', async () => {
      const logOf = async (seed: number): Promise<readonly [hash: string, text: string]> => {
        const run = new SimulatedRun(simulatedWordCount(), { seed, quickStart });
        await run.until(() => run.cluster.isGone);
        return [run.kernel.log.hash, run.kernel.log.text];
      };
      const [hash, text] = await logOf(7);
      const [again, textAgain] = await logOf(7);
      assert.equal(textAgain, text);
      assert.equal(again, hash);
      assert.notEqual((await logOf(8))[0], hash);
    });

    test('the container names say what a person would expect', async () => {
      const run = new SimulatedRun(simulatedWordCount({ isEndless: true }), { quickStart });
      await run.untilCounted(100);
      const names = run.cluster.processes().map(({ name }) => name);
      const started = quickStart
        ? []
        : ['scheduler', 'executor-0', 'executor-1', 'executor-2', 'heron-metricscache'];
      const expected = [
        ...started,
        'heron-tmanager',
        'metricsmgr-0',
        'metricsmgr-1',
        'metricsmgr-2',
        'stmgr-1',
        'stmgr-2',
        'container_1_words_1',
        'container_1_count_3',
        'container_2_words_2',
        'container_2_count_4',
      ];
      assert.deepEqual(names.toSorted(), expected.toSorted());
      assert.ok(run.cluster.processes().every(({ object }) => object !== undefined));
    });
  });
}
