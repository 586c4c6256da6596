import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFileWanted, isWanted, type LogFilter } from '../../../../src/cli/logs/log-filter.ts';
import type { LogLine } from '../../../../src/cli/logs/log-line.ts';

const LINE: LogLine = {
  container: 2,
  timeMs: 1_000,
  level: 'warn',
  process: 'container_2_my_count_3/gateway',
  message: 'no answer',
  fields: { port: 17, error: { message: 'x', stack: 'Error: x\n    at f' } },
};

const CASES: readonly (readonly [string, LogFilter, boolean])[] = [
  ['nothing asked for', {}, true],
  ['its component', { components: ['my_count'] }, true],
  ['one of several components', { components: ['words', 'my_count'] }, true],
  ['another component', { components: ['count'] }, false],
  ['its container', { containers: [1, 2] }, true],
  ['another container', { containers: [1] }, false],
  ['its process, of which it is a thread', { processes: ['container_2_my_count_3'] }, true],
  ['another process', { processes: ['stmgr-2'] }, false],
  ['its level', { level: 'warn' }, true],
  ['a lower level', { level: 'debug' }, true],
  ['a graver level', { level: 'error' }, false],
  ['words of its message', { text: /no ans/ }, true],
  ['a fact of it', { text: /port=17/ }, true],
  ['its stack', { text: /at f$/ }, true],
  ['other words', { text: /yes/ }, false],
  ['since before it', { sinceMs: 1_000 }, true],
  ['since after it', { sinceMs: 1_001 }, false],
  ['until after it', { untilMs: 1_001 }, true],
  ['until just before it', { untilMs: 1_000 }, false],
  ['all of several things', { components: ['my_count'], level: 'error' }, false],
];

for (const [what, filter, expected] of CASES) {
  test(`a line for who wants ${what}: ${expected ? 'shown' : 'left out'}`, () => {
    assert.equal(isWanted(LINE, filter), expected);
  });
}

test('a file is not read when no line of it can be wanted', () => {
  const file = { container: 2, process: 'container_2_my_count_3.gateway', writtenAtMs: 1_000 };
  assert.ok(isFileWanted(file, { components: ['my_count'], containers: [2], sinceMs: 1_000 }));
  assert.ok(isFileWanted(file, { processes: ['container_2_my_count_3'] }));
  assert.ok(!isFileWanted(file, { sinceMs: 1_001 }));
  assert.ok(!isFileWanted(file, { components: ['count'] }));
  assert.ok(!isFileWanted({ ...file, process: 'heron-stmgr-2' }, { components: ['my_count'] }));
  assert.ok(isFileWanted({ ...file, process: 'heron-stmgr-2' }, { processes: ['stmgr-2'] }));
});
