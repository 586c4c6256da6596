import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { Destinations } from '../../../src/routing/destinations.ts';
import { HeronFieldsGrouping } from '../../../src/routing/heron-fields-grouping.ts';
import { openTuple } from '../../support/tuple-sets.ts';

interface GoldenRow {
  readonly label: string;
  readonly values: readonly string[];
  readonly index: Readonly<Record<string, number>>;
}

const golden = JSON.parse(
  readFileSync(new URL('../../golden/fields-grouping.json', import.meta.url), 'utf8'),
) as { readonly rows: readonly GoldenRow[] };

function taskOf(grouping: HeronFieldsGrouping, values: readonly Uint8Array[]): number {
  const into = new Destinations();
  grouping.addDestinations(openTuple({ values }), into);
  assert.equal(into.count, 1);
  return into.tasks[0] as number;
}

describe('HeronFieldsGrouping', () => {
  for (const { label, values, index } of golden.rows) {
    it(`sends ${label} where Heron sends it`, () => {
      const bytes = values.map((hex) => Buffer.from(hex, 'hex'));
      const fields = bytes.map((_, position) => `field ${position}`);
      for (const [taskCount, expected] of Object.entries(index)) {
        const tasks = Array.from({ length: Number(taskCount) }, (_, task) => taskId(task + 1));
        const grouping = new HeronFieldsGrouping(tasks, fields, fields);
        assert.equal(taskOf(grouping, bytes), expected + 1, `${taskCount} tasks`);
      }
    });
  }

  it('takes each named field once, in whatever order, and no others', () => {
    const [a, b, c] = ['one', 'two', 'three'].map((text) => Buffer.from(text)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const tasks = Array.from({ length: 16 }, (_, task) => taskId(task + 1));
    const grouping = new HeronFieldsGrouping(tasks, ['a', 'b', 'c'], ['c', 'a', 'c', 'unknown']);
    const inOrder = new HeronFieldsGrouping(tasks, ['a', 'c'], ['a', 'c']);
    assert.equal(taskOf(grouping, [a, b, c]), taskOf(inOrder, [a, c]));
  });

  it('gives everything to the first task when it knows none of the fields', () => {
    const grouping = new HeronFieldsGrouping([4, 9].map(taskId), ['a'], ['z']);
    assert.equal(taskOf(grouping, [Buffer.from('x')]), 4);
  });

  it('refuses a tuple that lacks a value', () => {
    const grouping = new HeronFieldsGrouping([4, 9].map(taskId), ['a', 'b'], ['b']);
    assert.throws(() => taskOf(grouping, [Buffer.from('x')]), { code: 'PACKET_MALFORMED' });
  });
});
