import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import {
  componentOf,
  humanLine,
  jsonLine,
  type LineSource,
  parseLogLine,
  processNameOf,
} from '../../../../src/cli/logs/log-line.ts';
import { Output } from '../../../../src/cli/output.ts';

const SOURCE: LineSource = {
  container: 1,
  process: 'container_1_my_count_3',
  kind: 'log',
  writtenAtMs: 5_000,
};
const LINE =
  '{"time":"2026-01-31T10:00:00.250Z","level":"warn","name":"container_1_my_count_3/gateway",' +
  '"message":"no answer","port":17,"error":{"message":"x","stack":"Error: x\\n    at f"}}';

function human(text: string, source: LineSource = SOURCE): string {
  const output = new Output({
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    isJson: false,
  });
  return humanLine(parseLogLine(text, source), output);
}

test('a line of the engine: time, process, level, message, facts, and the stack below', () => {
  assert.equal(
    human(LINE),
    '10:00:00.250 container_1_my_count_3/gateway WARN no answer port=17\n' +
      '    Error: x\n        at f\n',
  );
});

test('captured output is a line as it is, at the time at which its file was last written', () => {
  const source = { ...SOURCE, kind: 'output' } as const;
  assert.equal(
    human('{"not":"ours"}', source),
    '00:00:05.000 container_1_my_count_3 INFO {"not":"ours"}\n',
  );
});

test('what a crash has cut off is shown as it is', () => {
  assert.match(human(LINE.slice(0, 40)), /^00:00:05\.000 container_1_my_count_3 INFO \{"time"/);
});

test('JSON has the same members whatever the line was', () => {
  for (const text of [LINE, 'plain']) {
    const record = JSON.parse(jsonLine(parseLogLine(text, SOURCE))) as Record<string, unknown>;
    assert.equal(typeof record['time'], 'string');
    assert.equal(record['container'], 1);
    assert.ok('level' in record && 'process' in record && 'message' in record);
  }
});

test('a component is found in the name of its instances and their gateways', () => {
  assert.equal(componentOf('container_1_my_count_3'), 'my_count');
  assert.equal(componentOf('container_1_my_count_3/gateway'), 'my_count');
  assert.equal(componentOf('stmgr-1'), undefined);
});

test('a process goes by the name that status shows, whatever its file or its thread', () => {
  for (const [written, name] of [
    ['container_1_my_count_3/gateway', 'container_1_my_count_3'],
    ['container_1_my_count_3.gateway', 'container_1_my_count_3'],
    ['heron-stmgr-1', 'stmgr-1'],
    ['heron-metricsmgr-0', 'metricsmgr-0'],
    ['heron-tmanager', 'heron-tmanager'],
  ] as const) {
    assert.equal(processNameOf(written), name);
  }
});

test('what has no time of its own has that which the reader knows', () => {
  assert.equal(parseLogLine('plain', SOURCE, 7).timeMs, 7);
  assert.equal(parseLogLine(LINE, SOURCE, 7).timeMs, Date.parse('2026-01-31T10:00:00.250Z'));
});
