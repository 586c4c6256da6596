import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { userError } from '../../../src/base/errors.ts';
import { AdvisedError } from '../../../src/cli/advised-error.ts';
import { errorReportOf } from '../../../src/cli/error-report.ts';

test('every report has a next step', () => {
  const report = errorReportOf(userError('PORT_IN_USE', 'the port 1 is in use'));
  assert.deepEqual([report.code, report.domain], ['PORT_IN_USE', 'user']);
  assert.equal(report.message, 'the port 1 is in use');
  assert.match(report.next, /--verbose/);
});

test('an error with advice of its own keeps it, and its details', () => {
  const options = { domain: 'user', next: 'sit down', details: ['a', 'b'] } as const;
  const report = errorReportOf(new AdvisedError('TOPOLOGY_FAILED', 'it fell', options));
  assert.deepEqual(report, { code: 'TOPOLOGY_FAILED', message: 'it fell', ...options });
});

test("the author's own frames are shown, the engine's stack is not", () => {
  const error = userError('MODULE_FAILED', 'the module failed');
  error.stack =
    'Error: boom\n    at build (/home/me/words.ts:3:7)\n    at main (/home/me/words.ts:9:1)\n' +
    `    at importModule (${join(packageRoot(), 'src/package/load-module.ts')}:58:13)\n` +
    '    at ChildProcess.emit (node:events:514:28)\n' +
    '    at async Command.parseAsync (file:///x/node_modules/commander/lib/command.js:1113:5)';
  assert.deepEqual(errorReportOf(error).details, [
    '    at build (/home/me/words.ts:3:7)',
    '    at main (/home/me/words.ts:9:1)',
  ]);
  assert.equal(errorReportOf(userError('INVALID_CONFIG', 'wrong')).details, undefined);
  const ours = userError('MODULE_FAILED', 'it called exit');
  ours.stack = `Error: it called exit\n    at userError (${join(packageRoot(), 'src/a.ts')}:1:1)`;
  assert.equal(errorReportOf(ours).details, undefined);
});

test('what is no EngineError is a fault of ours', () => {
  const report = errorReportOf(new TypeError('x is not a function'));
  assert.deepEqual([report.code, report.domain], ['ENGINE_FAULT', 'engine']);
  assert.match(report.message, /x is not a function/);
});
