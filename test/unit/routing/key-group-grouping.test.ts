import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { Destinations } from '../../../src/routing/destinations.ts';
import { KeyGroupGrouping } from '../../../src/routing/key-group-grouping.ts';
import { groupingKeys } from '../../support/grouping-keys.ts';
import { aTuple, openTuple, type TestTuple } from '../../support/tuple-sets.ts';

const GROUPS = 1024;
const tasks = [2, 4, 7, 11, 12].map(taskId);

function taskOf(grouping: KeyGroupGrouping, tuple: TestTuple): number {
  const into = new Destinations();
  grouping.addDestinations(openTuple(tuple), into);
  assert.equal(into.count, 1);
  return into.tasks[0] as number;
}

function byWord(): KeyGroupGrouping {
  return new KeyGroupGrouping(tasks, ['word'], ['word'], GROUPS);
}

describe('KeyGroupGrouping', () => {
  it('gives a key one task, whichever stream manager computes it', () => {
    const one = byWord();
    const another = byWord();
    for (const key of groupingKeys())
      assert.equal(taskOf(one, aTuple(key)), taskOf(another, aTuple(key)));
  });

  it('takes equal keys as equal, and different ones as different', () => {
    const wide = new KeyGroupGrouping([1, 2, 3].map(taskId), ['k'], ['k'], 3);
    assert.equal(taskOf(wide, aTuple(-0)), taskOf(wide, aTuple(0)));
    assert.equal(taskOf(wide, aTuple(Number.NaN)), taskOf(wide, aTuple(0 / 0)));
    const groups = new KeyGroupGrouping(
      Array.from({ length: GROUPS }, (_, index) => taskId(index + 1)),
      ['k'],
      ['k'],
      GROUPS,
    );
    assert.notEqual(taskOf(groups, aTuple(1)), taskOf(groups, aTuple(1n)));
    assert.notEqual(taskOf(groups, aTuple('1')), taskOf(groups, aTuple(1)));
  });

  it('spreads many keys evenly', () => {
    const grouping = byWord();
    const shares = new Map<number, number>();
    for (let index = 0; index < 10_000; index += 1) {
      const task = taskOf(grouping, aTuple(`word-${index}`));
      shares.set(task, (shares.get(task) ?? 0) + 1);
    }
    assert.deepEqual(
      [...shares.keys()].toSorted((a, b) => a - b),
      tasks,
    );
    for (const share of shares.values()) assert.ok(share > 1_800 && share < 2_200, `${share}`);
  });

  it('looks at the grouping fields alone, in the order in which the consumer names them', () => {
    const one = new KeyGroupGrouping(tasks, ['user', 'note', 'item'], ['user', 'item'], GROUPS);
    const other = new KeyGroupGrouping(tasks, ['item', 'buyer'], ['buyer', 'item'], GROUPS);
    for (let index = 0; index < 200; index += 1) {
      const expected = taskOf(one, aTuple(`u${index}`, 'x', index));
      assert.equal(taskOf(one, aTuple(`u${index}`, 'y', index)), expected);
      assert.equal(taskOf(other, aTuple(index, `u${index}`)), expected);
    }
  });

  it('refuses a tuple without the value, naming the field', () => {
    const grouping = new KeyGroupGrouping(tasks, ['a', 'b'], ['b'], GROUPS);
    assert.throws(() => taskOf(grouping, aTuple('only')), {
      code: 'PACKET_MALFORMED',
      message: /'b'/,
    });
  });

  it('refuses a value that cannot be a key', () => {
    assert.throws(() => taskOf(byWord(), aTuple({ an: 'object' })), {
      code: 'PACKET_MALFORMED',
      message: /'word'.*key/,
    });
  });
});
