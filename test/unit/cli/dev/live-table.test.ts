import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { ComponentMetrics } from '../../../../src/cli/dev/component-metrics.ts';
import { LiveTable } from '../../../../src/cli/dev/live-table.ts';
import { Output, type OutputStream } from '../../../../src/cli/output.ts';

const WORDS: ComponentMetrics = {
  component: 'words',
  tasks: 2,
  emitted: 12,
  executed: 0,
  failed: 0,
  latencyMs: 0.5,
};
const TABLE = [
  'COMPONENT  TASKS  EMITTED  EXECUTED  FAILED  LATENCY (MS)',
  'words      2      12       0         0       0.500',
  '',
].join('\n');
const ESCAPE = '\u001B';
const HIDE = `${ESCAPE}[2A\r${ESCAPE}[J`;

function tableOn({ isTTY = false, isJson = false }) {
  const stdout: OutputStream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY });
  const stderr = new PassThrough();
  const table = new LiveTable(new Output({ stdout, stderr, isJson }));
  return { table, said: () => (stdout as PassThrough).read() as string | null };
}

test('without a terminal each new state is plain lines', () => {
  const { table, said } = tableOn({});
  table.update([WORDS]);
  table.update([WORDS]);
  table.write('hello\n');
  table.update([{ ...WORDS, emitted: 13 }]);
  assert.equal(said(), `${TABLE}hello\n${TABLE.replace('12', '13')}`);
});

test('on a terminal it stays at the foot', () => {
  const { table, said } = tableOn({ isTTY: true });
  table.write('before\n');
  table.update([WORDS]);
  table.write('hello\n');
  assert.equal(withoutColours(said()), `before\n${TABLE}${HIDE}hello\n${TABLE}`);
  table.leave();
  table.write('after\n');
  assert.equal(said(), 'after\n');
});

/** Not without what moves the cursor. */
function withoutColours(text: string | null): string | undefined {
  return text?.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '');
}

test('--json keeps standard output for the one value', () => {
  const { table, said } = tableOn({ isJson: true });
  table.update([WORDS]);
  table.write('hello\n');
  assert.equal(said(), null);
});
