import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examineSeed } from '../../src/simulation/scenario/examine-seed.ts';
import type { Mode } from '../../src/simulation/scenario/mode.ts';
import { runScenario } from '../../src/simulation/scenario/run-scenario.ts';

/** Each so many seeds one is run twice, and both runs have to be the same to the byte. */
const REPEAT_EVERY = 10;
/** A seed that fails here is made small by `npm run simulate`, where there is time for it. */
const SHRINK_RUNS_MAX = 12;

interface PinnedKind {
  readonly mode?: Mode;
  /** Whether the topologies change while they run. */
  readonly hasChanges?: boolean;
}

/** One test for each seed: whole topologies in the simulator, with faults. */
export function pinSeeds(from: number, count: number, kind: PinnedKind = {}): void {
  const { mode = 'at-most-once', hasChanges = false } = kind;
  const name = hasChanges ? `${mode}, changing` : mode;
  const flags = `--mode ${mode}${hasChanges ? ' --changes' : ''}`;
  for (let seed = from; seed < from + count; seed += 1) {
    test(`seed ${seed}, ${name}`, async () => {
      const { passed, report } = await examineSeed(seed, {
        run: runScenario,
        mode,
        hasChanges,
        shrinkRunsMax: SHRINK_RUNS_MAX,
        repeatEvery: REPEAT_EVERY,
        writeLog: () => `written by npm run simulate -- --seed ${seed} ${flags}`,
      });
      assert.ok(passed, report);
    });
  }
}
