import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { createCheckers } from '../../../../src/simulation/checkers/checkers.ts';
import { describeWorkload } from '../../../../src/simulation/workload/describe-workload.ts';
import {
  createWorkload,
  generateWorkload,
  type Workload,
} from '../../../../src/simulation/workload/workload.ts';
import { sizeOf } from '../../../../src/simulation/workload/workload-size.ts';
import { aFinishedRun, packingOf } from '../checkers/finished-run.ts';
import { LoopbackEngine } from './loopback-engine.ts';

const SEEDS = Array.from({ length: 25 }, (_, seed) => seed);
const SMALL = { executionsMax: 400, spanMsMax: 300, hasUserFaults: false } as const;

function problemsOf(workload: Workload): readonly string[] {
  const packing = packingOf(workload);
  const run = aFinishedRun(workload, { endedAtMs: workload.ledger.executeCount });
  return createCheckers({ packing, workload: workload.plan }).flatMap((checker) =>
    checker.finish(run).map((problem) => `${checker.name}: ${problem}`),
  );
}

test('random workloads run to their end, and no checker finds anything', async () => {
  for (const seed of SEEDS) {
    const workload = generateWorkload(createSeededRandom(seed), SMALL);
    await new LoopbackEngine(workload, packingOf(workload)).run();
    assert.deepEqual(problemsOf(workload), [], workload.description);
    assert.equal(workload.ledger.executeCount, Math.round(sizeOf(workload.plan).executions));
  }
});

test('a lost, a doubled and a misled tuple is found in any workload', async () => {
  for (const seed of SEEDS) {
    const plan = describeWorkload(createSeededRandom(seed), SMALL);
    for (const [copies, checker] of [
      [0, 'nothing lost without a cause'],
      [2, 'at most once'],
    ] as const) {
      const workload = createWorkload(plan);
      let isDone = false;
      const engine = new LoopbackEngine(workload, packingOf(workload), (_, tasks) => {
        if (isDone) return [...tasks];
        isDone = true;
        const [first, ...others] = tasks;
        return [...Array.from({ length: copies }, () => first ?? assert.fail()), ...others];
      });
      await engine.run();
      if (!isDone) continue; // Nobody reads what the spouts emit.
      const problems = problemsOf(workload);
      assert.ok(
        problems.some((problem) => problem.startsWith(checker)),
        `${checker}: ${workload.description} ${problems.join('\n')}`,
      );
    }
  }
});

test('a workload is made again from its description', () => {
  const workload = generateWorkload(createSeededRandom(4));
  const again = createWorkload(JSON.parse(workload.description));
  assert.equal(again.description, workload.description);
  assert.deepEqual(again.topology.topology, workload.topology.topology);
});

test('all that is built of one workload shares its ledger', async () => {
  const workload = generateWorkload(createSeededRandom(4), SMALL);
  const other = workload.definition.build({ config: new Map([['heron.executor.x', '1']]) });
  assert.equal(other.topology.config.get('heron.executor.x'), '1');
  const built = { ...workload, topology: other };
  await new LoopbackEngine(built, packingOf(workload)).run();
  assert.ok(workload.ledger.executeCount > 0);
});
