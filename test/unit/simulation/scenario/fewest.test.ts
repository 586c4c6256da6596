import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { fewestThat } from '../../../../src/simulation/scenario/fewest.ts';

const numbers = Array.from({ length: 24 }, (_, index) => index);

/** Holds for every list with all of these in it. */
function holdsWith(...needed: readonly number[]) {
  return (part: readonly number[]) =>
    Promise.resolve(needed.every((number) => part.includes(number)));
}

test('nothing is left of what does not matter', async () => {
  const { items, asks } = await fewestThat(numbers, holdsWith(), { asksMax: 100 });
  assert.deepEqual(items, []);
  assert.equal(asks, 1, 'the first question is whether it takes anything at all');
});

test('exactly what is needed stays, in order (D1, D2)', async () => {
  const random = createSeededRandom(3);
  for (let round = 0; round < 200; round += 1) {
    const needed = numbers.filter(() => random.below(6) === 0);
    const { items } = await fewestThat(numbers, holdsWith(...needed), { asksMax: 10_000 });
    assert.deepEqual(items, needed);
  }
});

test('no single item can be left out of the result, whatever holds (D2)', async () => {
  const random = createSeededRandom(8);
  for (let round = 0; round < 100; round += 1) {
    const answers = new Map<string, boolean>();
    const holds = (part: readonly number[]): Promise<boolean> => {
      const key = part.join(',');
      const answer = answers.get(key) ?? random.below(3) === 0;
      answers.set(key, answer);
      return Promise.resolve(answer);
    };
    const { items } = await fewestThat(numbers.slice(0, 10), holds, { asksMax: 10_000 });
    for (const left of items) {
      assert.equal(answers.get(items.filter((item) => item !== left).join(',')), false);
    }
  }
});

test('equal items are two', async () => {
  const needsTwo = (part: readonly string[]) => Promise.resolve(part.length >= 2);
  const { items } = await fewestThat(['a', 'a', 'a', 'a'], needsTwo, { asksMax: 100 });
  assert.deepEqual(items, ['a', 'a']);
});

test('the budget is kept, and what was reached by then holds (D3)', async () => {
  let asked = 0;
  const holds = (part: readonly number[]): Promise<boolean> => {
    asked += 1;
    return Promise.resolve(part.includes(5) && part.includes(20));
  };
  const { items, asks } = await fewestThat(numbers, holds, { asksMax: 7 });
  assert.equal(asked, 7);
  assert.equal(asks, 7);
  assert.ok(items.length < numbers.length && items.includes(5) && items.includes(20));
});

test('no list is asked about twice (D3)', async () => {
  const asked: string[] = [];
  const holds = (part: readonly number[]): Promise<boolean> => {
    asked.push(part.join(','));
    return Promise.resolve(part.includes(0) && part.includes(9) && part.includes(17));
  };
  await fewestThat(numbers, holds, { asksMax: 10_000 });
  assert.equal(new Set(asked).size, asked.length);
});
