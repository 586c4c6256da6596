import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../src/base/errors.ts';
import { containerId } from '../../../src/base/ids.ts';
import {
  type ContainerReport,
  encodeContainerReport,
  parseContainerReport,
} from '../../../src/model/container-report.ts';

const report: ContainerReport = {
  containerId: containerId(2),
  host: '127.0.0.3',
  pid: 41,
  startedAtMs: 1_000,
  processes: [
    { name: 'stmgr-2', pid: 42, state: 'running', restarts: 0, startedAtMs: 1_001 },
    {
      name: 'container_2_count_5',
      pid: null,
      state: 'restarting',
      restarts: 3,
      startedAtMs: 1_002,
      lastExit: { code: 7, signal: null, atMs: 1_003, reason: 'ended', lastLines: ['a', 'ü'] },
    },
  ],
};

test('a report comes back as it was', () => {
  assert.deepEqual(parseContainerReport(encodeContainerReport(report)), report);
});

const damaged: readonly [text: string, message: RegExp][] = [
  ['{', /container report: not JSON/],
  ['[]', /container report: expected an object, got \[\]/],
  ['{"containerId":"2"}', /containerId: expected a number, got "2"/],
  [
    '{"containerId":2,"host":"h","pid":1,"startedAtMs":1}',
    /processes: expected a list, got nothing/,
  ],
  [
    JSON.stringify({ ...report, processes: [{ ...report.processes[0], state: 'asleep' }] }),
    /processes\[0\]\.state: expected one of running, .*got "asleep"/,
  ],
  [
    JSON.stringify({ ...report, processes: [{ ...report.processes[1], lastExit: { code: 7 } }] }),
    /processes\[0\]\.lastExit\.signal: expected text/,
  ],
];

for (const [text, message] of damaged) {
  test(`what is damaged is refused by name: ${text.slice(0, 40)}`, () => {
    assert.throws(
      () => parseContainerReport(new TextEncoder().encode(text)),
      (error) =>
        error instanceof EngineError &&
        error.code === 'STATE_CORRUPTED' &&
        message.test(error.message),
    );
  });
}
