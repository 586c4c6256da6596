import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultPlan } from '../../../../src/simulation/faults/fault.ts';
import {
  failureReport,
  problemLines,
  replayCommand,
} from '../../../../src/simulation/scenario/failure-report.ts';
import { aVerdict } from '../../../support/verdicts.ts';
import { aWorkload } from '../../../support/workload-descriptions.ts';

const faults: FaultPlan = [{ atMs: 5, kind: 'full-disk', forMs: 3 }];

test('a failing seed says what is wrong, with which faults, and how to see it again', () => {
  const problems = [{ checker: 'order', text: 'task 3 saw 5 before 4' }];
  const failed = aVerdict({ problems, outcome: 'time', faults: [...faults, ...faults] });
  const trial = { faults, workload: undefined };
  const verdict = aVerdict({ problems, faults });
  const text = failureReport({
    failed,
    shrunk: { trial, verdict, runs: 4 },
    logFile: '.cache/simulation/seed-7.log',
  });
  assert.equal(
    text,
    [
      'seed 7 fails: time after 12.345 simulated seconds',
      '    order: task 3 saw 5 before 4',
      '  2 faults; with these 1 it still fails (4 runs):',
      '    {"atMs":5,"kind":"full-disk","forMs":3}',
      '  its problems then:',
      '    order: task 3 saw 5 before 4',
      '  event log: .cache/simulation/seed-7.log',
      '  replay:    npm run simulate -- --seed 7',
      '  smallest:  npm run simulate -- --seed 7 --faults ' +
        `'[{"atMs":5,"kind":"full-disk","forMs":3}]'`,
    ].join('\n'),
  );
});

test('a workload of its own is part of the command, quoted for a shell', () => {
  const workload = aWorkload({ name: `it's` });
  const command = replayCommand(7, { trial: { faults: [], workload } });
  const text = JSON.stringify(workload).replace(`it's`, String.raw`it'\''s`);
  assert.equal(command, `npm run simulate -- --seed 7 --faults '[]' --workload '${text}'`);
});

test('of many problems the first are shown and the rest are counted', () => {
  const problems = Array.from({ length: 15 }, (_, index) => ({ checker: 'c', text: `${index}` }));
  const lines = problemLines(problems);
  assert.equal(lines.length, 13);
  assert.equal(lines.at(-1), '    and 3 more');
});
