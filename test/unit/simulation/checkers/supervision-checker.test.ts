import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../../src/base/ids.ts';
import type { LivingEvent, ReportEvent } from '../../../../src/simulation/checkers/checker.ts';
import { SupervisionChecker } from '../../../../src/simulation/checkers/supervision-checker.ts';
import { anEnd } from './finished-run.ts';

function living(atMs: number, ...processes: LivingEvent['processes']): LivingEvent {
  return { kind: 'living', atMs, processes };
}

function reported(atMs: number, name: string, restarts: number): ReportEvent {
  const process = { name, pid: 101, state: 'running', restarts, startedAtMs: 0 } as const;
  const container = { containerId: containerId(1), host: 'here', pid: 100, startedAtMs: 0 };
  return { kind: 'report', atMs, report: { ...container, processes: [process] } };
}

test('one process after the other may have a name', () => {
  const checker = new SupervisionChecker();
  checker.observe(living(1, { name: 'stmgr-1', pid: 101 }, { name: 'stmgr-2', pid: 102 }));
  checker.observe(living(2, { name: 'stmgr-1', pid: 103 }, { name: 'stmgr-2', pid: 102 }));
  assert.deepEqual(checker.finish(), []);
});

test('two processes of one name at the same time are told once', () => {
  const checker = new SupervisionChecker();
  const twice = [
    { name: 'stmgr-1', pid: 101 },
    { name: 'stmgr-1', pid: 103 },
  ];
  checker.observe(living(1, ...twice));
  checker.observe(living(2, ...twice));
  assert.deepEqual(checker.finish(), ['stmgr-1 lives twice at 1 ms: processes 101 and 103']);
});

test('as many restarts as ends, and fewer, may be reported', () => {
  const checker = new SupervisionChecker();
  checker.observe(reported(1, 'stmgr-1', 0));
  checker.observe(anEnd('stmgr-1', 2));
  checker.observe(reported(3, 'stmgr-1', 0));
  checker.observe(reported(4, 'stmgr-1', 1));
  assert.deepEqual(checker.finish(), []);
});

test('a restart without an end is told once', () => {
  const checker = new SupervisionChecker();
  checker.observe(anEnd('stmgr-2', 1));
  checker.observe(anEnd('stmgr-1', 2));
  checker.observe(reported(3, 'stmgr-1', 2));
  checker.observe(reported(4, 'stmgr-1', 3));
  const said = 'stmgr-1 is said to have been started again 2 times at 3 ms, and ended 1 times';
  assert.deepEqual(checker.finish(), [said]);
});
