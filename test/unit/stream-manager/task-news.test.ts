import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch, taskId } from '../../../src/base/ids.ts';
import { TaskNews } from '../../../src/stream-manager/task-news.ts';

describe('TaskNews', () => {
  it('has nothing to say at first', () => {
    const nothing = {
      endedTaskIds: [],
      endedPlanEpochs: [],
      lostTasks: [],
      retiredTaskIds: [],
      planEpoch: 0n,
    };
    assert.deepEqual(new TaskNews().all, nothing);
  });

  it('says everything each time, the first loss of a task only', () => {
    const news = new TaskNews();
    news.planInForce(epoch(4), new Set([1, 2, 3].map(taskId)));
    news.ended(taskId(2));
    news.ended(taskId(1));
    news.retired(taskId(2));
    news.lost(taskId(3), 10.7);
    news.lost(taskId(3), 20);
    const all = {
      endedTaskIds: [2, 1],
      endedPlanEpochs: [4n, 4n],
      lostTasks: [{ taskId: 3, lostAt: 10n }],
      retiredTaskIds: [2],
      planEpoch: 4n,
    };
    assert.deepEqual(news.all, all);
    assert.deepEqual(news.all, all);
  });

  it('forgets what left the plan, but not that it was lost', () => {
    const news = new TaskNews();
    news.ended(taskId(1));
    news.ended(taskId(2));
    news.retired(taskId(1));
    news.lost(taskId(1), 10);
    news.planInForce(epoch(5), new Set([taskId(2)]));
    assert.deepEqual(news.all, {
      endedTaskIds: [2],
      endedPlanEpochs: [0n],
      lostTasks: [{ taskId: 1, lostAt: 10n }],
      retiredTaskIds: [],
      planEpoch: 5n,
    });
  });

  it('says by which plan a task has ended, however often it says so', () => {
    const news = new TaskNews();
    for (const plan of [4, 5]) {
      news.planInForce(epoch(plan), new Set([1, 2].map(taskId)));
      news.ended(taskId(1));
    }
    news.ended(taskId(2));
    assert.deepEqual(news.all.endedPlanEpochs, [4n, 5n]);
  });

  it('has another version with everything that a master should hear at once', () => {
    const news = new TaskNews();
    const versions = [
      () => news.planInForce(epoch(1), new Set()),
      () => news.ended(taskId(1)),
      () => news.retired(taskId(1)),
      () => news.lost(taskId(1), 1),
    ].map((tell) => {
      const before = news.version;
      tell();
      return news.version > before;
    });
    assert.deepEqual(versions, [true, true, true, false]);
  });
});
