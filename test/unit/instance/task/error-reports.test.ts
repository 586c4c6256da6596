import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LogFields, silentLogger } from '../../../../src/base/logger.ts';
import { ErrorReports } from '../../../../src/instance/task/error-reports.ts';
import type { ToGateway } from '../../../../src/instance/thread-channel.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function aReports() {
  const clock = new ManualClock();
  const sent: ToGateway[] = [];
  const logged: (LogFields | undefined)[] = [];
  const logger = {
    ...silentLogger,
    error: (_message: string, fields?: LogFields) => void logged.push(fields),
  };
  const reports = new ErrorReports({ clock, logger, send: (message) => sent.push(message) });
  return { clock, sent, logged, reports };
}

describe('errors that a component survives', () => {
  it('reach the log and the gateway', () => {
    const { reports, sent, logged } = aReports();
    const error = new Error('no such word');
    reports.add(error);
    const [message] = sent;
    assert.ok(message?.kind === 'exception');
    assert.equal(message.error.message, 'no such word');
    assert.equal(message.error.stack, error.stack);
    assert.deepEqual(logged, [{ error }]);
  });

  it('E1: are told ten times a second at most, and counted beyond', () => {
    const { reports, sent, logged, clock } = aReports();
    for (let index = 0; index < 1_000; index += 1) reports.add('again');
    assert.equal(sent.length, 10);
    clock.advance(999);
    reports.add('again');
    assert.equal(sent.length, 10);
    clock.advance(1);
    reports.add('and again');
    assert.equal(sent.length, 11);
    assert.equal(logged.at(-1)?.['othersBefore'], 991);
    reports.add('and again');
    assert.equal(logged.at(-1)?.['othersBefore'], undefined);
  });
});
