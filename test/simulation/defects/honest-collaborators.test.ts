import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { lying } from './defect.ts';
import { tampered } from './tampered-network.ts';

/* What stands between processes and their world is not itself what is found. */

const SEEDS = [1, 13, 39];

const honestNetwork = tampered(/^/, () => ({}));

const honest: Interposer = {
  portsOf: (ports, process, thread) => {
    const files = lying(ports.files, {});
    return honestNetwork.portsOf?.({ ...ports, files }, process, thread) ?? ports;
  },
  processesOf: (processes) => lying(processes, {}),
};

for (const seed of SEEDS) {
  test(`collaborators that keep their word change no verdict: seed ${seed}`, async () => {
    const { problems, outcome } = await runScenario({ seed }, honest);
    assert.deepEqual(problems, []);
    assert.equal(outcome, 'completed');
  });
}
