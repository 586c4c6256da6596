import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { ReportPublisher } from '../../../src/supervision/report-publisher.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function publisher() {
  const clock = new ManualClock();
  const writes: { value: number; done: () => void; fail: () => void }[] = [];
  const state = { value: 0 };
  const reports = new ReportPublisher({
    write: () =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(environmentError('STATE_UNAVAILABLE', 'away'));
        writes.push({ value: state.value, done: resolve, fail });
      }),
    clock,
    logger: silentLogger,
  });
  const settle = async (how: 'done' | 'fail'): Promise<void> => {
    writes.at(-1)?.[how]();
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    clock.runSoon();
  };
  return { clock, writes, state, reports, settle };
}

test('changes of one turn cost one write', () => {
  const { clock, writes, state, reports } = publisher();
  reports.changed();
  reports.changed();
  state.value = 2;
  reports.changed();
  clock.runSoon();
  assert.deepEqual(
    writes.map(({ value }) => value),
    [2],
  );
});

test('changes during a write lead to one more, with the newest value (R1)', async () => {
  const { clock, writes, state, reports, settle } = publisher();
  reports.changed();
  clock.runSoon();
  for (const value of [1, 2, 3]) {
    state.value = value;
    reports.changed();
    clock.runSoon();
  }
  assert.equal(writes.length, 1);
  await settle('done');
  assert.deepEqual(
    writes.map(({ value }) => value),
    [0, 3],
  );
  await settle('done');
  clock.advance(100_000);
  assert.equal(writes.length, 2);
});

test('a failed write is repeated until it succeeds (R2)', async () => {
  const { clock, writes, reports, settle } = publisher();
  reports.changed();
  clock.runSoon();
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await settle('fail');
    assert.equal(writes.length, attempt);
    clock.advance(1_000);
    assert.equal(writes.length, attempt + 1);
  }
  await settle('done');
  clock.advance(100_000);
  assert.equal(writes.length, 4);
});

test('close waits for the write under way and lets no other begin', async () => {
  const { clock, writes, reports, settle } = publisher();
  reports.changed();
  clock.runSoon();
  reports.changed();
  let closed = false;
  const closing = reports.close().then(() => (closed = true));
  await Promise.resolve();
  assert.equal(closed, false);
  await settle('done');
  await closing;
  reports.changed();
  clock.advance(100_000);
  assert.equal(writes.length, 1);
});
