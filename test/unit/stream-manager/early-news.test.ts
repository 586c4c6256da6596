import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { EarlyNews, type News } from '../../../src/stream-manager/early-news.ts';

function news(task: number, rootLow = 0): News {
  return {
    kind: 'ack',
    source: taskId(2),
    task: taskId(task),
    rootLow,
    rootHigh: 0,
    xorLow: 1,
    xorHigh: 2,
    detail: undefined,
  };
}

describe('EarlyNews', () => {
  it('keeps what is told of tasks above all that ever were, in order', () => {
    const early = new EarlyNews();
    early.known([1, 5].map(taskId));
    early.known([1].map(taskId)); // Task 5 has gone.
    const told = [news(7, 1), news(6, 2), news(7, 3)];
    assert.deepEqual(
      [news(1), news(4), news(5), ...told].map((one) => early.keep(one)),
      [false, false, false, true, true, true],
    );
    assert.deepEqual(early.take(), { news: told, overflown: [] });
    assert.deepEqual(early.take(), { news: [], overflown: [] });
  });

  it('remembers of which spouts there was no room to keep more', () => {
    const early = new EarlyNews(2);
    for (const task of [7, 8, 9, 7, 9]) assert.ok(early.keep(news(task)));
    const { news: kept, overflown } = early.take();
    assert.deepEqual(
      kept.map(({ task }) => task),
      [7, 8],
    );
    assert.deepEqual(overflown, [9, 7]);
    assert.ok(early.keep(news(9)));
    assert.deepEqual(early.take().overflown, []);
  });
});
