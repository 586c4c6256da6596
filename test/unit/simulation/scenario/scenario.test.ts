import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSettingKey, Settings } from '../../../../src/model/settings.ts';
import { horizonOf, scenarioOf, spanMsOf } from '../../../../src/simulation/scenario/scenario.ts';
import { aSpout, aWorkload } from '../../../support/workload-descriptions.ts';

const scenarios = Array.from({ length: 300 }, (_, seed) => scenarioOf({ seed }));

test('the same seed makes the same scenario, another one another', () => {
  assert.deepEqual(scenarioOf({ seed: 3 }), scenarios[3]);
  assert.notDeepEqual(scenarios[3], scenarios[4]);
});

test('faults and workload that are given replace those of the seed, and nothing else', () => {
  const workload = aWorkload();
  const faults = [{ atMs: 1, kind: 'duplicate-master' }] as const;
  const changed = scenarioOf({ seed: 3, faults, workload });
  assert.deepEqual(changed, { ...scenarios[3], faults, workload });
});

test('some scenarios are without faults, most have one or several', () => {
  const counts = scenarios.map(({ faults }) => faults.length);
  const without = counts.filter((count) => count === 0).length;
  assert.ok(without > 40 && without < 120, `${without} of 300 are without faults`);
  assert.ok(counts.filter((count) => count > 1).length > 100);
});

test('all settings are valid', () => {
  for (const { settings, workload } of scenarios) {
    const config = new Map(Object.entries({ ...workload.config, ...settings }));
    for (const key of config.keys()) {
      assert.ok(isSettingKey(key), key);
      assert.doesNotThrow(() => new Settings(config).get(key));
    }
  }
});

test('a pause is long enough to be seen, and the plan may end later', () => {
  const pause = { atMs: 100, kind: 'command', command: 'deactivate' } as const;
  assert.equal(horizonOf({ faults: [pause] }), 5_100);
  assert.equal(horizonOf({ faults: [pause, { atMs: 9_000, kind: 'clock-step', byMs: 1 }] }), 9_000);
  assert.equal(horizonOf({ faults: [] }), 0);
});

test('the span of a workload is that of its slowest spout', () => {
  const spouts = [
    aSpout('flood', { tuples: 1_000 }),
    aSpout('burst', { tuples: 100, pace: { kind: 'burst', size: 50, pauseMs: 30 } }),
    aSpout('trickle', { tuples: 7, pace: { kind: 'trickle', everyMs: 10 } }),
  ];
  assert.equal(spanMsOf({ spouts }), 70);
});
