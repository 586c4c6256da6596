import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { parseQuery } from '../../../../src/tracker/metrics/query-syntax.ts';

describe('the query language', () => {
  it('reads series, constants and every operator', () => {
    const series = { kind: 'series', component: 'count', metric: '__emit-count/default' };
    const one = { ...series, instance: 'container_1_count_1' };
    const all = { ...series, instance: undefined };
    const TS = 'TS(count, *, __emit-count/default)';
    assert.deepEqual(parseQuery(TS), all);
    assert.deepEqual(parseQuery(' TS ( count ,container_1_count_1,__emit-count/default ) '), one);
    assert.deepEqual(parseQuery('((-2.5e1))'), { kind: 'constant', value: -25 });
    assert.deepEqual(parseQuery(`DEFAULT(0, ${TS})`), { kind: 'default', value: 0, operand: all });
    assert.deepEqual(parseQuery(`RATE(${TS})`), { kind: 'rate', operand: all });
    const two = { kind: 'constant', value: 2 };
    assert.deepEqual(parseQuery(`SUM(${TS},2)`), { kind: 'sum', operands: [all, two] });
    assert.deepEqual(parseQuery(`MAX(2)`), { kind: 'max', operands: [two] });
    assert.deepEqual(parseQuery(`PERCENTILE(99, ${TS}, 2)`), {
      kind: 'percentile',
      quantile: 99,
      operands: [all, two],
    });
    for (const kind of ['divide', 'multiply', 'subtract']) {
      const text = `${kind.toUpperCase()}(${TS}, (2))`;
      assert.deepEqual(parseQuery(text), { kind, left: all, right: two });
    }
  });

  it('takes parentheses that pair into names', () => {
    assert.deepEqual(parseQuery('TS(a(b), *, c (d, e))'), {
      kind: 'series',
      component: 'a(b)',
      instance: undefined,
      metric: 'c (d, e)',
    });
  });

  const operators = 'TS, DEFAULT, SUM, MAX, PERCENTILE, DIVIDE, MULTIPLY, SUBTRACT, RATE';
  const anything = `a number or one of ${operators}`;
  const refusals: readonly (readonly [query: string, at: number, wants: string, finds: string])[] =
    [
      ['', 1, anything, ''],
      ['sum(1)', 1, anything, 'sum(1)'],
      ['SUM 1', 5, '`(`', '1'],
      ['SUM(1', 6, '`,` or `)`', ''],
      ['SUM(1))', 7, 'the end of the query', ')'],
      ['SUM(1,)', 7, anything, ')'],
      ['TS(a, *)', 8, '`,`', ')'],
      ['TS(, *, m)', 4, 'the name of a component', ', *, m)'],
      ['TS(a, *, m, n)', 11, '`,` or `)`', ', n)'],
      ['TS(a, *, m(', 12, '`)`', ''],
      [
        'DEFAULT(TS(a,*,m), 0)',
        9,
        'a number, which takes the place of missing points',
        'TS(a,*,m), 0)',
      ],
      ['DEFAULT(0, 1)', 12, 'TS or an operator', '1)'],
      ['RATE(3)', 6, 'TS or an operator', '3)'],
      ['PERCENTILE(101, 1)', 12, 'a number from 0 to 100, the percentile', '101, 1)'],
      ['DIVIDE(1)', 9, '`,`', ')'],
      ['DIVIDE(1, 0)', 11, 'a number that is not 0, as it divides', '0)'],
      ['SUM(1e999)', 5, 'a number that a double can hold', '1e999)'],
    ];
  for (const [query, at, wants, finds] of refusals) {
    it(`says what is wrong with \`${query}\``, () => {
      assert.throws(
        () => parseQuery(query),
        (error) => {
          assert.ok(hasCode(error, 'INVALID_ARGUMENT'));
          const found = finds === '' ? 'the query ends' : `\`${finds}\` stands there`;
          const message = `character ${at} of the query: expected ${wants}, but ${found}`;
          assert.equal(error.message, message);
          return true;
        },
      );
    });
  }

  it('bounds the size of a query', () => {
    const nested = (depth: number): string => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
    assert.deepEqual(parseQuery(nested(32)), { kind: 'constant', value: 1 });
    assert.throws(() => parseQuery(nested(33)), /no more than 32 parentheses in each other/);
    const series = (count: number): string => `SUM(${Array(count).fill('TS(a,*,m)').join(',')})`;
    parseQuery(series(32));
    assert.throws(() => parseQuery(series(33)), /no more than 32 series in one query/);
    assert.throws(() => parseQuery(`SUM(${'1,'.repeat(2_050)}1)`), /4106 characters, more than/);
  });
});
