import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/base/logger.ts';
import { PageFeed } from '../../../../src/tracker/pages/page-feed.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';

function aFeed() {
  const clock = new ManualClock();
  const state = { page: '{"page":1}', written: 0, idle: 0 };
  const feed = new PageFeed({
    clock,
    logger: silentLogger,
    write: () => {
      state.written += 1;
      return state.page === '' ? Promise.reject(new Error('gone')) : Promise.resolve(state.page);
    },
    onIdle: () => {
      state.idle += 1;
    },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1_000) {
      clock.advance(Math.min(left, 1_000));
      await settled();
    }
  };
  return { feed, state, pass };
}

function readerOf(feed: PageFeed) {
  const reader = feed.follow().getReader();
  return {
    async next(): Promise<string | undefined> {
      const { value, done } = await reader.read();
      return done ? undefined : Buffer.from(value).toString();
    },
    cancel: () => reader.cancel(),
  };
}

test('a reader gets the page at once, and again only when it is another one', async () => {
  const { feed, state, pass } = aFeed();
  const reader = readerOf(feed);
  assert.equal(await reader.next(), 'id: 1\ndata: {"page":1}\n\n');
  const second = reader.next();
  await pass(3_000);
  state.page = '{"page":2}';
  await pass(1_000);
  assert.equal(await second, 'id: 2\ndata: {"page":2}\n\n');
});

test('a slow reader gets the newest page only', async () => {
  const { feed, state, pass } = aFeed();
  const [slow, quick] = [readerOf(feed), readerOf(feed)];
  await slow.next();
  await quick.next();
  for (let page = 2; page <= 5; page += 1) {
    state.page = `{"page":${page}}`;
    const next = quick.next();
    await pass(1_000);
    await next;
  }
  assert.equal(await slow.next(), 'id: 5\ndata: {"page":5}\n\n');
});

test('nothing is made while nobody asks, and one that never asks again is ended', async () => {
  const { feed, state, pass } = aFeed();
  const reader = readerOf(feed);
  await reader.next();
  const { written } = state;
  await pass(59_000);
  assert.equal(state.written, written);
  assert.equal(feed.readers, 1);
  await pass(3_000);
  assert.equal(feed.readers, 0);
  assert.equal(state.idle, 1);
  assert.equal(await reader.next(), undefined);
});

test('a silent connection is kept alive', async () => {
  const { feed, pass } = aFeed();
  const reader = readerOf(feed);
  await reader.next();
  const next = reader.next();
  await pass(16_000);
  assert.equal(await next, ': still here\n\n');
});

test('a page that cannot be made is told once, and the next one that can comes', async () => {
  const { feed, state, pass } = aFeed();
  state.page = '';
  const reader = readerOf(feed);
  assert.equal(await reader.next(), 'id: 1\ndata: {"error":{"message":"gone"}}\n\n');
  const next = reader.next();
  await pass(2_000);
  state.page = '{"page":3}';
  await pass(1_000);
  assert.equal(await next, 'id: 2\ndata: {"page":3}\n\n');
});

test('when the last reader goes, the feed rests; a closed feed ends its readers', async () => {
  const { feed, state, pass } = aFeed();
  const [first, second] = [readerOf(feed), readerOf(feed)];
  await first.next();
  await first.cancel();
  assert.equal(state.idle, 0);
  await second.next();
  await second.cancel();
  assert.equal(state.idle, 1);
  const { written } = state;
  await pass(5_000);
  assert.equal(state.written, written);
  const third = readerOf(feed);
  await third.next();
  feed.close();
  assert.equal(await third.next(), undefined);
});
