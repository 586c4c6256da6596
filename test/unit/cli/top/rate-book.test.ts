import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RateBook } from '../../../../src/cli/top/rate-book.ts';

/* Rates out of the minutes of a topology master. */

const EMIT = '__emit-count/default';
const LATENCY = '__execute-latency/words/default';
const TASK = 'container_1_words_1';
/** The first second of a minute. */
const MINUTE = 1_700_000_040;

interface Minutes {
  readonly [startSeconds: number]: number;
}

function aBook({ exportSeconds = 1, startedSeconds = 0 } = {}) {
  const book = new RateBook({ exportSeconds, startedSeconds });
  const observe = (nowSeconds: number, minutes: Minutes, metric: string = EMIT): void => {
    const newestFirst = Object.entries(minutes)
      .map(([startSeconds, value]) => ({ startSeconds: Number(startSeconds), value }))
      .toSorted((a, b) => b.startSeconds - a.startSeconds);
    book.observe(new Map([[TASK, new Map([[metric, newestFirst]])]]), nowSeconds);
  };
  const number = (metric: string = EMIT): number | undefined =>
    book.numbers(TASK, [metric])?.get(metric);
  return { book, observe, number };
}

describe('before two arrivals have been seen (B2)', () => {
  test('the last whole minute tells', () => {
    const { observe, number } = aBook();
    observe(MINUTE + 30, { [MINUTE]: 999, [MINUTE - 60]: 1_200 });
    assert.equal(number(), 20);
  });

  test('without one, the running minute', () => {
    const { observe, number } = aBook();
    observe(MINUTE + 30, { [MINUTE]: 600 });
    assert.equal(number(), 20);
  });

  test('what could arrive only since the start counts for that time', () => {
    const { observe, number } = aBook({ startedSeconds: MINUTE + 20 });
    observe(MINUTE + 30, { [MINUTE]: 600 });
    assert.equal(number(), 60);
  });

  test('one export of a minute is a minute, whenever it has arrived', () => {
    const { observe, number } = aBook({ exportSeconds: 60 });
    observe(MINUTE + 5, { [MINUTE]: 600 });
    assert.equal(number(), 10);
  });
});

describe('when arrivals have been seen (B1)', () => {
  test('what came between them tells, over ten seconds', () => {
    const { observe, number } = aBook();
    let total = 5_000;
    for (let second = 0; second <= 30; second += 2) {
      observe(MINUTE + second, { [MINUTE]: total });
      total += second < 20 ? 20 : 200;
    }
    assert.equal(number(), 100);
  });

  test('across minutes nothing is lost', () => {
    const { observe, number } = aBook();
    observe(MINUTE + 56, { [MINUTE]: 560 });
    observe(MINUTE + 58, { [MINUTE]: 580 });
    observe(MINUTE + 62, { [MINUTE + 60]: 20, [MINUTE]: 600 });
    observe(MINUTE + 64, { [MINUTE + 60]: 40, [MINUTE]: 600 });
    assert.equal(number(), 10);
  });

  test('exports of a minute are told by their distance', () => {
    const { observe, number } = aBook({ exportSeconds: 60 });
    for (let second = 0; second < 200; second += 2) {
      const minutes: Record<number, number> = {};
      for (const at of [10, 70, 130]) {
        if (second >= at) minutes[MINUTE + Math.floor(at / 60) * 60] = 1_200;
      }
      observe(MINUTE + second, minutes);
    }
    assert.equal(number(), 20);
  });

  test('what has ceased to arrive is zero', () => {
    const { observe, number } = aBook();
    for (let second = 0; second <= 20; second += 2) {
      observe(MINUTE + second, { [MINUTE]: Math.min(second, 10) * 10 });
    }
    assert.equal(number(), 0);
  });

  test('a master that begins again is no fall', () => {
    const { observe, number } = aBook();
    observe(MINUTE, { [MINUTE]: 1_000 });
    observe(MINUTE + 2, { [MINUTE]: 1_020 });
    observe(MINUTE + 4, { [MINUTE]: 20 });
    assert.equal(number(), 10);
  });
});

test('a count that does not arrive is zero, of a task that has never told it is not known', () => {
  const { book, observe, number } = aBook();
  observe(MINUTE, {}, EMIT);
  assert.equal(number(), 0);
  assert.equal(book.numbers('container_1_words_2', [EMIT]), undefined);
});

test('means are those of the two newest minutes', () => {
  const { observe, number } = aBook();
  observe(MINUTE, { [MINUTE]: 4, [MINUTE - 60]: 2, [MINUTE - 120]: 1_000 }, LATENCY);
  assert.equal(number(LATENCY), 3);
});
