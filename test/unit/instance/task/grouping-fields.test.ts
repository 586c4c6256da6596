import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentName } from '../../../../src/base/ids.ts';
import { GroupingFields } from '../../../../src/instance/task/grouping-fields.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { aPlanOf } from '../../../support/planned-tasks.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../../support/topologies.ts';

const output = anOutput(['word', 'count', 'place']);
const other = anOutput(['word'], 'other');
const plan = new PlanIndex(
  aPlanOf(
    aTopology([
      aSpout('words', { outputs: [output, other] }),
      aBolt('by-place', [anInput('words', { kind: 'fields', fields: ['place'] })]),
      aBolt('by-both', [anInput('words', { kind: 'fields', fields: ['place', 'word'] })]),
      aBolt('anywhere', [anInput('words'), anInput('words', { kind: 'all' }, 'other')]),
    ]),
  ),
);
const fields = new GroupingFields(plan, componentName('words'), output);

describe('the grouping fields of a stream', () => {
  const keys = ['a', 1.5, true, 7n, null, Uint8Array.of(1), Buffer.from('a'), [1, ['a', null]]];
  for (const key of keys) {
    it(`take a key: ${JSON.stringify(typeof key === 'bigint' ? String(key) : key)}`, () => {
      fields.check([key, {}, key]);
    });
  }

  const refused: readonly [name: string, value: unknown, text: RegExp][] = [
    ['an object', { a: 1 }, /and an object cannot/],
    ['a date', new Date(0), /and an object cannot/],
    ['a set', new Set(), /and an object cannot/],
    ['undefined', undefined, /and undefined cannot/],
    ['a function', () => 1, /and a function cannot/],
    [
      'an array with an object inside',
      ['a', [{}]],
      /and an array that holds something else cannot/,
    ],
  ];
  for (const [name, value, text] of refused) {
    it(`refuse ${name}, and say which field it is`, () => {
      const where = { code: 'VALUE_NOT_SERIALIZABLE', message: text };
      assert.throws(() => fields.check(['a', 1, value]), where);
      assert.throws(() => fields.check(['a', 1, value]), {
        message: /^field 'place' of stream 'default' of 'words' /,
      });
      assert.throws(() => fields.check([value, 1, 'a']), { message: /^field 'word' / });
    });
  }

  it('are none where no consumer groups by fields', () => {
    new GroupingFields(plan, componentName('words'), other).check([{}]);
  });
});
