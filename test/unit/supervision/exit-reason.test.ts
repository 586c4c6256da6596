import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ExitFacts, exitReason } from '../../../src/supervision/exit-reason.ts';

const cases: readonly [facts: Partial<ExitFacts>, reason: string][] = [
  [{ code: 7 }, 'ended with code 7'],
  [{ code: 0 }, 'ended without being asked to (code 0)'],
  [
    { code: 70, lastLines: ['heron-instance cannot go on: count: no such word', '    at x.ts:3'] },
    'ended because user code failed (code 70): heron-instance cannot go on: count: no such word',
  ],
  [
    { code: 7, lastLines: ['stmgr ends because some code called process.exit(7)'] },
    'ended with code 7: stmgr ends because some code called process.exit(7)',
  ],
  [
    { code: 1, lastLines: ['TypeError: first', '    at a', 'TypeError: second', '    at b', ''] },
    'ended after an unexpected failure (code 1): TypeError: second',
  ],
  [{ code: 1, lastLines: ['hello'] }, 'ended after an unexpected failure (code 1)'],
  [{ code: 73 }, 'ended because a port was in use (code 73)'],
  [{ signal: 'SIGSEGV' }, 'ended by SIGSEGV'],
  [{ signal: 'SIGKILL' }, 'killed by SIGKILL: by hand, or by the kernel because memory ran out'],
  [
    { code: 137 },
    'ended because it was killed from inside, most often for want of memory (code 137)',
  ],
  [
    { signal: 'SIGABRT', lastLines: ['FATAL ERROR: Reached heap limit Allocation failed', 'x'] },
    'ran out of JavaScript heap: give its component more RAM or keep less in memory',
  ],
  [{}, 'ended while nobody could see how'],
];

for (const [facts, reason] of cases) {
  test(`${JSON.stringify(facts)} reads: ${reason}`, () => {
    assert.equal(exitReason({ code: null, signal: null, lastLines: [], ...facts }), reason);
  });
}
