import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aCluster } from '../../support/cluster.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';
import { SeededChoice } from '../../support/seeded-choice.ts';

/*
  Two processes are killed at the same moment, one pair after the other, in a topology that goes
  on: at least once, so in the end nothing is missing.

    HERON_ALL_PAIRS=1   every pair; else some of them, chosen by the seed
    HERON_PAIRS_SEED    1 unless given
*/

const SEED = Number(process.env['HERON_PAIRS_SEED'] ?? 1);
const HAS_ALL = process.env['HERON_ALL_PAIRS'] === '1';
const CHOSEN = 5;

/**
 * Two of each kind where there are two: `1` and `2` are containers. `lines` has the tasks 1 and 2,
 * `slow` 3 to 5, `sink` 6 and 7.
 */
const VICTIMS = [
  'container_1_lines_1',
  'container_2_lines_2',
  'container_1_slow_3',
  'container_2_slow_4',
  'container_2_sink_6',
  'container_1_sink_7',
  'stmgr-1',
  'stmgr-2',
  'metricsmgr-0',
  'metricsmgr-1',
  'heron-tmanager',
  'heron-metricscache',
  'executor-0',
  'executor-1',
  'executor-2',
  'scheduler',
] as const;

type Pair = readonly [string, string];

const PAIRS: readonly Pair[] = VICTIMS.flatMap((first, at) =>
  VICTIMS.slice(at + 1).map((second): Pair => [first, second]),
);

/** Those that stand for the way in which they are found again, and some others. */
function chosenPairs(): readonly Pair[] {
  return HAS_ALL ? PAIRS : new SeededChoice(SEED).some(PAIRS, CHOSEN);
}

async function killPair(pipeline: RunningPipeline, pair: Pair): Promise<void> {
  const before = pipeline.pids();
  const victims = pair.map((name) => {
    const pid = before.get(name);
    assert.ok(pid !== undefined, `there is no ${name}`);
    return pid;
  });
  for (const pid of victims) process.kill(pid, 'SIGKILL');
  // Only a command starts a scheduler again, and only a scheduler an executor.
  await pipeline.cluster.heron('list', pipeline.cluster.name);
  await pipeline.areReplaced(pair, before);
  await pipeline.untilState('RUNNING');
}

async function killPairs(t: TestContext, pipeline: RunningPipeline): Promise<void> {
  for (const pair of chosenPairs()) {
    await t.test(pair.join(' and '), async () => {
      await killPair(pipeline, pair);
      await pipeline.goesOn();
    });
  }
}

test(`two are killed at once, pair after pair (seed ${SEED}): nothing is missing`, async (t) => {
  const pipeline = await RunningPipeline.begin(await aCluster(t));
  try {
    await killPairs(t, pipeline);
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});
