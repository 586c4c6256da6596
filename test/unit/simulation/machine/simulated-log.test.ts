import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../../src/base/errors.ts';
import {
  fieldsText,
  type LogLine,
  openSimulatedLog,
} from '../../../../src/simulation/machine/simulated-log.ts';

test('lines have the simulated time, who speaks, and the fields of all loggers above', () => {
  const lines: LogLine[] = [];
  const log = openSimulatedLog({
    name: 'stmgr-1',
    level: 'info',
    nowMs: () => 12.5,
    onLine: (line) => lines.push(line),
  });
  log.debug('below the level');
  log.info('at the level');
  log.child({ task: 3 }).child({ port: 1 }).warn('lost', { port: 2 });
  assert.deepEqual(lines, [
    { atMs: 12.5, name: 'stmgr-1', level: 'info', message: 'at the level', fields: {} },
    { atMs: 12.5, name: 'stmgr-1', level: 'warn', message: 'lost', fields: { task: 3, port: 2 } },
  ]);
  assert.equal(log.dropped, 0);
});

test('the text of fields is the same on every machine: it has no stacks', () => {
  const fields = {
    host: '10.0.0.1',
    ports: [1, 2],
    big: 7n,
    nothing: undefined,
    error: environmentError('PORT_IN_USE', 'port 1 is in use'),
    other: new TypeError('odd'),
  };
  assert.equal(
    fieldsText(fields),
    'host=10.0.0.1 ports=[1,2] big=7 nothing=undefined error=PORT_IN_USE port 1 is in use ' +
      'other=TypeError: odd',
  );
});
