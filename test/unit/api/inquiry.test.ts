import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Inquiry } from '../../../src/api/inquiry.ts';
import {
  type NumberAnswer,
  NumberSource,
  NumberStore,
  openedSpout,
} from '../../support/replayed-spout.ts';
import { settled } from '../../support/settled.ts';

describe('an inquiry', () => {
  it('keeps nobody waiting for a source that answers late', async () => {
    let answer = Promise.withResolvers<NumberAnswer>();
    class Late extends NumberSource {
      override next(): Promise<NumberAnswer> {
        return answer.promise;
      }
    }
    const spout = await openedSpout(new Late(new NumberStore(2)));
    await spout.step();
    await spout.step();
    assert.deepEqual(spout.take(), []);
    answer.resolve({ position: 1, values: { number: 1 } });
    await settled();
    assert.equal(spout.wakes, 1);
    answer = Promise.withResolvers();
    await spout.step();
    assert.deepEqual(
      spout.take().map(({ number }) => number),
      [1],
    );
    await spout.step();
    answer.reject(new Error('the source is gone'));
    await settled();
    await assert.rejects(async () => spout.step(), /the source is gone/);
  });

  it('I1: puts one question at a time, and gives its reply out once', async () => {
    const asked: string[] = [];
    const inquiry = new Inquiry<string>(() => void asked.push('woken'));
    const ask = (name: string) => (): string => {
      asked.push(name);
      return name;
    };
    inquiry.put(ask('one'));
    inquiry.put(ask('two'));
    assert.deepEqual(inquiry.take(), { answer: 'one' });
    assert.equal(inquiry.take(), undefined);
    inquiry.put(ask('three'));
    assert.deepEqual(asked, ['one', 'three']);
    const failing = new Inquiry<string>(() => {});
    const error = new Error('no');
    failing.put(() => {
      throw error;
    });
    assert.deepEqual(failing.take(), { error });
  });

  it('takes a promise that needs no time as an answer on the spot', async () => {
    const asked: string[] = [];
    const inquiry = new Inquiry<number>(() => void asked.push('woken'));
    inquiry.put(async () => 7);
    assert.equal(inquiry.take(), undefined);
    await inquiry.soon();
    assert.deepEqual(inquiry.take(), { answer: 7 });
    assert.deepEqual(asked, []);
  });
});
