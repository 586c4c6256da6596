import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentAnswers } from '../../../../src/tracker/metrics/recent-answers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const FRESH_MS = 1_000;

function counted(weight = 1) {
  const clock = new ManualClock();
  const answers = new RecentAnswers<number>(clock, FRESH_MS, () => weight);
  let asked = 0;
  const get = (key = 'key'): Promise<number> =>
    answers.get(key, async () => {
      asked += 1;
      await Promise.resolve();
      return asked;
    });
  return { clock, answers, get, asked: () => asked };
}

describe('answers that are given again', () => {
  it('while they are under way and until they are no longer fresh', async () => {
    const { clock, get, asked } = counted();
    const first = get();
    clock.advance(10 * FRESH_MS);
    assert.equal(get(), first, 'under way for however long');
    await first;
    clock.advance(FRESH_MS - 1);
    assert.equal(get(), first);
    assert.notEqual(get('other'), first);
    clock.advance(1);
    assert.notEqual(get(), first);
    assert.equal(asked(), 3);
  });

  it('also when they are failures', async () => {
    const { clock, answers } = counted();
    let asked = 0;
    const fail = (): Promise<number> => {
      asked += 1;
      return Promise.reject(new Error('away'));
    };
    await assert.rejects(answers.get('key', fail));
    await assert.rejects(answers.get('key', fail));
    assert.equal(asked, 1);
    clock.advance(FRESH_MS);
    await assert.rejects(answers.get('key', fail));
    assert.equal(asked, 2);
  });

  it('within bounds, the oldest going first', async () => {
    const light = counted();
    for (let key = 0; key < 514; key += 1) await light.get(String(key));
    await light.get('513');
    assert.equal(light.asked(), 514, 'the newest is kept');
    await light.get('0');
    assert.equal(light.asked(), 515, 'the oldest is not');

    const heavy = counted(5_000_000);
    await heavy.get('one');
    await heavy.get('two');
    await heavy.get('two');
    assert.equal(heavy.asked(), 2);
    await heavy.get('one');
    assert.equal(heavy.asked(), 3, 'two of them are too heavy');
  });
});
