import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLine } from '../../../../src/cli/logs/log-line.ts';
import { mergeLines } from '../../../../src/cli/logs/merge-lines.ts';

async function* lines(process: string, ...times: readonly number[]): AsyncGenerator<LogLine, void> {
  for (const timeMs of times) {
    yield { container: 1, timeMs, level: 'info', process, message: '', fields: {} };
  }
}

test('lines come in the order of time, and of the sources where times are the same', async () => {
  const merged = mergeLines([
    lines('a', 1, 4, 4),
    lines('empty'),
    lines('b', 2, 4, 9),
    lines('c', 3),
  ]);
  const order = (await Array.fromAsync(merged)).map(({ process, timeMs }) => `${process}${timeMs}`);
  assert.deepEqual(order, ['a1', 'b2', 'c3', 'a4', 'a4', 'b4', 'b9']);
});
