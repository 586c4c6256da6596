import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentName, streamManagerId, taskId } from '../../../src/base/ids.ts';
import { HoldBook } from '../../../src/stream-manager/hold-book.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const [ONE, TWO] = [streamManagerId('stmgr-1'), streamManagerId('stmgr-2')];
const slow = { task: taskId(5), component: componentName('slow') };
const other = { task: taskId(6), component: componentName('slow') };
const unnamed = { task: undefined, component: undefined };

function aBook() {
  const clock = new ManualClock();
  const log: string[] = [];
  const book = new HoldBook(clock, {
    onHold: ({ streamManager, task }) => log.push(`hold ${streamManager} ${task}`),
    onRelease: ({ streamManager, task }) => log.push(`release ${streamManager} ${task}`),
  });
  return { clock, log, book };
}

describe('HoldBook', () => {
  it('counts by stream manager and task: each ends for itself', () => {
    const { log, book } = aBook();
    book.start(ONE, slow, 1_000);
    book.start(TWO, slow, 1_000);
    book.start(ONE, other, 1_000);
    book.stop(ONE, slow.task);
    assert.deepEqual(
      book.all.map(({ streamManager, task }) => [streamManager, task]),
      [
        [ONE, other.task],
        [TWO, slow.task],
      ],
    );
    assert.deepEqual(log, [
      'hold stmgr-1 5',
      'hold stmgr-2 5',
      'hold stmgr-1 6',
      'release stmgr-1 5',
    ]);
    book.close();
  });

  it('ends with one stop, however often it was said', () => {
    const { log, book } = aBook();
    for (let times = 0; times < 5; times += 1) book.start(ONE, slow, 1_000);
    book.stop(ONE, slow.task);
    book.stop(ONE, slow.task);
    assert.deepEqual(log, ['hold stmgr-1 5', 'release stmgr-1 5']);
  });

  it('lets a lease end when it is not renewed, and not before', () => {
    const { clock, log, book } = aBook();
    book.start(ONE, slow, 1_000);
    clock.advance(999);
    book.start(ONE, slow, 1_000);
    clock.advance(999);
    assert.deepEqual(log, ['hold stmgr-1 5']);
    clock.advance(1);
    assert.deepEqual(log, ['hold stmgr-1 5', 'release stmgr-1 5']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('holds without a lease until stop or disconnect (R12)', () => {
    const { clock, log, book } = aBook();
    book.start(ONE, unnamed, undefined);
    book.start(TWO, unnamed, undefined);
    clock.advance(1_000_000_000);
    assert.equal(book.all.length, 2);
    book.stop(ONE, undefined);
    book.forget(TWO);
    assert.deepEqual(log.slice(2), ['release stmgr-1 undefined', 'release stmgr-2 undefined']);
  });

  it('ends all of a stream manager whose connection ends, or that stops without a task', () => {
    for (const end of [
      (book: HoldBook) => book.forget(ONE),
      (book: HoldBook) => book.stop(ONE, undefined),
    ]) {
      const { clock, book } = aBook();
      book.start(ONE, slow, 1_000);
      book.start(ONE, other, 1_000);
      book.start(TWO, other, 1_000);
      end(book);
      assert.deepEqual(
        book.all.map(({ streamManager }) => streamManager),
        [TWO],
      );
      assert.equal(clock.pendingTimers, 1);
      book.close();
    }
  });

  it('takes nothing more once it is closed', () => {
    const { clock, log, book } = aBook();
    book.start(ONE, slow, 1_000);
    book.close();
    book.start(TWO, slow, 1_000);
    assert.equal(clock.pendingTimers, 0);
    assert.deepEqual(log, ['hold stmgr-1 5']);
  });
});
