import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  examineSeed,
  logText,
  type RunScenario,
  type ScenarioRequest,
} from '../../../../src/simulation/scenario/examine-seed.ts';
import type { FaultPlan } from '../../../../src/simulation/faults/fault.ts';
import type { Verdict } from '../../../../src/simulation/scenario/verdict.ts';
import { aVerdict } from '../../../support/verdicts.ts';

const faults: FaultPlan = [
  { atMs: 5, kind: 'full-disk', forMs: 3 },
  { atMs: 6, kind: 'clock-step', byMs: 3 },
];

function examining(run: (request: ScenarioRequest) => Partial<Verdict>) {
  const requests: ScenarioRequest[] = [];
  const logs: string[] = [];
  const runScenario: RunScenario = (request) => {
    requests.push(request);
    const { seed, workload } = request;
    const planned = { seed, faults: request.faults ?? faults };
    return Promise.resolve(
      aVerdict({ ...planned, ...(workload === undefined ? {} : { workload }), ...run(request) }),
    );
  };
  const options = {
    run: runScenario,
    shrinkRunsMax: 50,
    repeatEvery: 10,
    writeLog(seed: number, log: string): string {
      logs.push(log);
      return `seed-${seed}.log`;
    },
  };
  return { requests, logs, options };
}

test('a seed that passes runs once', async () => {
  const { options, requests } = examining(() => ({}));
  assert.deepEqual(await examineSeed(3, options), { seed: 3, passed: true, report: '' });
  assert.deepEqual(requests, [{ seed: 3 }]);
});

test('now and then a seed is run twice, and both runs have to be the same', async () => {
  const same = examining(() => ({}));
  assert.equal((await examineSeed(20, same.options)).passed, true);
  assert.equal(same.requests.length, 2);

  const different = examining(() => ({ logHash: `${different.requests.length}` }));
  assert.deepEqual(await examineSeed(20, different.options), {
    seed: 20,
    passed: false,
    report: 'seed 20 fails: two runs differ: their logs have the hashes 1 and 2',
  });
});

test('a failing seed is made small, and its log is that of the smallest', async () => {
  const { options, logs } = examining(({ faults: part = faults, keepsLog, workload }) => ({
    problems: part.some(({ kind }) => kind === 'clock-step')
      ? [{ checker: 'order', text: `wrong with ${part.length} faults` }]
      : [],
    log: keepsLog === true ? `${part.length} ${workload?.bolts.length}` : undefined,
  }));
  const { passed, report } = await examineSeed(3, options);
  assert.equal(passed, false);
  assert.match(report, /2 faults; with these 1 it still fails/);
  assert.match(report, /order: wrong with 1 faults/);
  assert.match(report, /event log: seed-3\.log/);
  assert.deepEqual(logs, ['1 0']);
});

test('the state of everyone when a limit was hit stands at the end of the log', () => {
  assert.equal(logText(aVerdict({ log: 'a', stateDump: 'b' })), 'a\nb\n');
  assert.equal(logText(aVerdict({ log: 'a' })), 'a');
});
