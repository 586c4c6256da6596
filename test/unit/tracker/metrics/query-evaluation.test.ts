import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  evaluateQuery,
  minutesBefore,
  minutesBetween,
  minutesIn,
  type MinuteRange,
  type ReadSeries,
  seriesIn,
} from '../../../../src/tracker/metrics/query-evaluation.ts';
import { parseQuery, type QueryNode } from '../../../../src/tracker/metrics/query-syntax.ts';

/* Minutes are numbered here: minute 3 is second 180. Undefined or NaN: no point. */

type Points = Readonly<Record<number, number>>;
/** `component/instance/metric` → points. */
type Stored = Readonly<Record<string, Points>>;

function readerOf(stored: Stored): ReadSeries {
  return ({ component, instance, metric }, range) =>
    Object.entries(stored).flatMap(([key, points]) => {
      const [itsComponent, itsInstance, itsMetric] = key.split('/');
      const isIt = itsComponent === component && itsMetric === metric;
      if (!isIt || (instance !== undefined && instance !== itsInstance)) return [];
      const minutes = Array.from(
        { length: minutesIn(range) },
        (_, at) => range.firstSeconds / 60 + at,
      );
      const own = Float64Array.from(minutes, (minute) => points[minute] ?? Number.NaN);
      return [{ instance: itsInstance, points: own }];
    });
}

type Shown = readonly (readonly [instance: string | null, points: Points])[];

function evaluated(node: QueryNode, range: MinuteRange, stored: Stored): Shown {
  return evaluateQuery(node, range, readerOf(stored)).map(({ instance, points }) => [
    instance ?? null,
    Object.fromEntries(
      [...points].flatMap((point, at) =>
        Number.isNaN(point) ? [] : [[range.firstSeconds / 60 + at, point]],
      ),
    ),
  ]);
}

function answer(query: string, stored: Stored, [from, to] = [1, 4]): Shown {
  const range = { firstSeconds: from * 60, lastSeconds: to * 60 };
  return evaluated(parseQuery(query), range, stored);
}

const STORED: Stored = {
  'count/a/m': { 0: 1, 1: 4, 2: 0, 4: 10 },
  'count/b/m': { 1: 2, 2: 6, 3: 8 },
  'count/a/n': { 1: 2, 2: 3, 3: 4, 4: 0 },
  'split/c/m': { 1: 100 },
};
const TS = 'TS(count, *, m)';

describe('what queries mean', () => {
  it('TS gives the points of one instance, or of each', () => {
    assert.deepEqual(answer(TS, STORED), [
      ['a', { 1: 4, 2: 0, 4: 10 }],
      ['b', { 1: 2, 2: 6, 3: 8 }],
    ]);
    assert.deepEqual(answer('TS(count, b, m)', STORED), [['b', { 1: 2, 2: 6, 3: 8 }]]);
    assert.deepEqual(answer('TS(count, *, nothing)', STORED), []);
  });

  it('DEFAULT fills what is missing and leaves zeros alone', () => {
    assert.deepEqual(answer(`DEFAULT(7, ${TS})`, STORED), [
      ['a', { 1: 4, 2: 0, 3: 7, 4: 10 }],
      ['b', { 1: 2, 2: 6, 3: 8, 4: 7 }],
    ]);
  });

  it('SUM counts what is missing as 0', () => {
    assert.deepEqual(answer(`SUM(${TS})`, STORED), [[null, { 1: 6, 2: 6, 3: 8, 4: 10 }]]);
    assert.deepEqual(answer(`SUM(1, ${TS}, 2)`, STORED), [[null, { 1: 9, 2: 9, 3: 11, 4: 13 }]]);
    assert.deepEqual(answer('SUM(TS(none, *, m))', STORED), [[null, { 1: 0, 2: 0, 3: 0, 4: 0 }]]);
  });

  it('MAX and PERCENTILE have a point where an operand has one', () => {
    assert.deepEqual(answer(`MAX(${TS})`, STORED), [[null, { 1: 4, 2: 6, 3: 8, 4: 10 }]]);
    assert.deepEqual(answer('MAX(TS(split, *, m))', STORED), [[null, { 1: 100 }]]);
    assert.deepEqual(answer(`MAX(5, ${TS})`, STORED), [[null, { 1: 5, 2: 6, 3: 8, 4: 10 }]]);
    assert.deepEqual(answer(`PERCENTILE(0, ${TS})`, STORED), [[null, { 1: 2, 2: 0, 3: 8, 4: 10 }]]);
    assert.deepEqual(answer(`PERCENTILE(99, ${TS})`, STORED), [
      [null, { 1: 2, 2: 0, 3: 8, 4: 10 }],
    ]);
    assert.deepEqual(answer(`PERCENTILE(100, ${TS})`, STORED), answer(`MAX(${TS})`, STORED));
    assert.deepEqual(answer('PERCENTILE(50, 3, 1, 2)', STORED, [1, 1]), [[null, { 1: 2 }]]);
  });

  it('two operands meet by instance, and one of no instance meets all', () => {
    const n = 'TS(count, *, n)';
    assert.deepEqual(answer(`DIVIDE(${TS}, ${n})`, STORED), [['a', { 1: 2, 2: 0 }]]);
    assert.deepEqual(answer(`MULTIPLY(${TS}, ${n})`, STORED), [['a', { 1: 8, 2: 0, 4: 0 }]]);
    assert.deepEqual(answer(`SUBTRACT(${TS}, ${n})`, STORED), [['a', { 1: 2, 2: -3, 4: 10 }]]);
    assert.deepEqual(answer(`SUBTRACT(10, ${TS})`, STORED), [
      ['a', { 1: 6, 2: 10, 4: 0 }],
      ['b', { 1: 8, 2: 4, 3: 2 }],
    ]);
    assert.deepEqual(answer(`DIVIDE(${TS}, SUM(${TS}))`, STORED), [
      ['a', { 1: 4 / 6, 2: 0, 4: 1 }],
      ['b', { 1: 2 / 6, 2: 1, 3: 1 }],
    ]);
    assert.deepEqual(answer('DIVIDE(6, 2)', STORED, [1, 2]), [[null, { 1: 3, 2: 3 }]]);
    assert.deepEqual(answer(`DIVIDE(${TS}, TS(none, *, m))`, STORED), []);
    assert.deepEqual(answer('SUBTRACT(TS(split,*,m), TS(split,c,m))', STORED), [['c', { 1: 0 }]]);
  });

  it('nothing is divided by 0, and what is no finite number is missing', () => {
    assert.deepEqual(answer(`DIVIDE(1, ${TS})`, STORED)[0], ['a', { 1: 1 / 4, 4: 1 / 10 }]);
    assert.deepEqual(answer('MULTIPLY(1e200, 1e200)', STORED), [[null, {}]]);
  });

  it('RATE is the difference to the minute before, also at the first one', () => {
    assert.deepEqual(answer(`RATE(${TS})`, STORED), [
      ['a', { 1: 3, 2: -4 }],
      ['b', { 2: 4, 3: 2 }],
    ]);
    assert.deepEqual(answer(`RATE(RATE(${TS}))`, STORED, [2, 3]), [
      ['a', { 2: -7 }],
      ['b', { 3: -2 }],
    ]);
    assert.equal(minutesBefore(parseQuery(`SUM(RATE(RATE(${TS})), RATE(${TS}))`)), 2);
    assert.equal(minutesBefore(parseQuery(TS)), 0);
  });

  it('names each series once', () => {
    const query = `SUM(${TS}, DIVIDE(${TS}, TS(count, a, m)))`;
    assert.deepEqual(
      seriesIn(parseQuery(query)).map(({ instance }) => instance),
      [undefined, 'a'],
    );
  });

  it('whole minutes between two moments', () => {
    const range = (first: number, last: number): MinuteRange => {
      return { firstSeconds: first, lastSeconds: last };
    };
    assert.deepEqual(minutesBetween(60, 180), range(60, 180));
    assert.deepEqual(minutesBetween(61, 239), range(120, 180));
    assert.equal(minutesBetween(61, 119), undefined);
  });
});

/* The reference: points in plain objects, minute by minute, written for reading only. */

interface Naive {
  readonly instance: string | null;
  readonly at: (minute: number) => number | undefined;
}

function naive(node: QueryNode, stored: Stored): readonly Naive[] {
  const single = (at: Naive['at']): readonly Naive[] => [{ instance: null, at }];
  const all = (nodes: readonly QueryNode[]): readonly Naive[] =>
    nodes.flatMap((operand) => naive(operand, stored));
  const values = (rows: readonly Naive[], minute: number): number[] =>
    rows.flatMap(({ at }) => at(minute) ?? []);
  switch (node.kind) {
    case 'constant':
      return single(() => node.value);
    case 'series':
      return Object.entries(stored)
        .map(([key, points]) => ({ key: key.split('/'), points }))
        .filter(
          ({ key: [component, instance, metric] }) =>
            component === node.component &&
            metric === node.metric &&
            (node.instance === undefined || instance === node.instance),
        )
        .map(({ key, points }) => ({ instance: key[1] ?? '', at: (minute) => points[minute] }));
    case 'default':
      return naive(node.operand, stored).map(({ instance, at }) => {
        return { instance, at: (minute) => at(minute) ?? node.value };
      });
    case 'sum': {
      const rows = all(node.operands);
      return single((minute) =>
        finite(values(rows, minute).reduce((sum, value) => sum + value, 0)),
      );
    }
    case 'max': {
      const rows = all(node.operands);
      return single((minute) => {
        const known = values(rows, minute);
        return known.length === 0 ? undefined : Math.max(...known);
      });
    }
    case 'percentile': {
      const rows = all(node.operands);
      return single((minute) => {
        const known = values(rows, minute).toSorted((one, other) => one - other);
        return known[Math.floor((node.quantile * (known.length - 1)) / 100)];
      });
    }
    case 'rate':
      return naive(node.operand, stored).map(({ instance, at }) => {
        return {
          instance,
          at: (minute) => both(at(minute), at(minute - 1), (now, then) => now - then),
        };
      });
    case 'divide':
    case 'multiply':
    case 'subtract': {
      const [left, right] = [naive(node.left, stored), naive(node.right, stored)];
      const join = (instance: string | null, one: Naive, other: Naive): Naive => {
        return {
          instance,
          at: (minute) => both(one.at(minute), other.at(minute), OPERATIONS[node.kind]),
        };
      };
      const [firstLeft, firstRight] = [left[0], right[0]];
      if (left.length === 1 && firstLeft?.instance === null) {
        return right.map((row) => join(row.instance, firstLeft, row));
      }
      if (right.length === 1 && firstRight?.instance === null) {
        return left.map((row) => join(row.instance, row, firstRight));
      }
      return left.flatMap((row) =>
        right
          .filter(({ instance }) => instance === row.instance)
          .map((other) => join(row.instance, row, other)),
      );
    }
  }
}

const OPERATIONS = {
  divide: (one: number, other: number) => (other === 0 ? undefined : one / other),
  multiply: (one: number, other: number) => one * other,
  subtract: (one: number, other: number) => one - other,
};

function both(
  one: number | undefined,
  other: number | undefined,
  join: (one: number, other: number) => number | undefined,
): number | undefined {
  return one === undefined || other === undefined ? undefined : finite(join(one, other));
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

const numbers = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, 1e200, -1e200));
const componentNames = fc.constantFrom('count', 'split');
const metricNames = fc.constantFrom('m', 'n');
const instanceNames = fc.constantFrom('a', 'b', 'c');

const storedSeries: fc.Arbitrary<Stored> = fc
  .array(
    fc.tuple(
      fc.tuple(componentNames, instanceNames, metricNames).map((parts) => parts.join('/')),
      fc.dictionary(fc.integer({ min: 0, max: 8 }).map(String), numbers),
    ),
    { maxLength: 8 },
  )
  .map((entries) => Object.fromEntries(entries));

const { node: nodes } = fc.letrec<{ node: QueryNode; overTime: QueryNode }>((tie) => {
  const series = fc.record({
    kind: fc.constant('series' as const),
    component: componentNames,
    instance: fc.option(instanceNames, { nil: undefined }),
    metric: metricNames,
  });
  const operands = fc.array(tie('node'), { minLength: 1, maxLength: 3 });
  const overTime = fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    series,
    fc.record({
      kind: fc.constantFrom('divide' as const, 'multiply' as const, 'subtract' as const),
      left: tie('node'),
      right: tie('node'),
    }),
    fc.record({ kind: fc.constant('default' as const), value: numbers, operand: tie('overTime') }),
    fc.record({ kind: fc.constant('rate' as const), operand: tie('overTime') }),
    fc.record({ kind: fc.constantFrom('sum' as const, 'max' as const), operands }),
    fc.record({
      kind: fc.constant('percentile' as const),
      quantile: fc.integer({ min: 0, max: 100 }),
      operands,
    }),
  );
  const constant = fc.record({ kind: fc.constant('constant' as const), value: numbers });
  return { node: fc.oneof(constant, tie('overTime')), overTime };
});

describe('queries against a naive reference', () => {
  it('give the same points, whatever they nest', () => {
    fc.assert(
      fc.property(nodes, storedSeries, (node, stored) => {
        const range = { firstSeconds: 180, lastSeconds: 420 };
        const expected = naive(node, stored).map(({ instance, at }) => {
          const minutes = [3, 4, 5, 6, 7];
          const known = minutes.flatMap((minute) => {
            const value = at(minute);
            return value === undefined ? [] : [[minute, value]];
          });
          return [instance, Object.fromEntries(known)];
        });
        assert.deepEqual(evaluated(node, range, stored), expected);
      }),
      { numRuns: 500 },
    );
  });

  it('read back from their text as they were', () => {
    fc.assert(
      fc.property(nodes, (node) => {
        const text = textOf(node);
        fc.pre(!/DIVIDE\(.*, 0\)/.test(text) && text.length < 1_000);
        // A copy, as the generator's objects have no prototype.
        assert.deepEqual(parseQuery(text), structuredClone(node));
      }),
      { numRuns: 300 },
    );
  });
});

function textOf(node: QueryNode): string {
  switch (node.kind) {
    case 'constant':
      return String(node.value);
    case 'series':
      return `TS(${node.component}, ${node.instance ?? '*'}, ${node.metric})`;
    case 'default':
      return `DEFAULT(${node.value}, ${textOf(node.operand)})`;
    case 'rate':
      return `RATE(${textOf(node.operand)})`;
    case 'sum':
    case 'max':
      return `${node.kind.toUpperCase()}(${node.operands.map(textOf).join(', ')})`;
    case 'percentile':
      return `PERCENTILE(${node.quantile}, ${node.operands.map(textOf).join(', ')})`;
    case 'divide':
    case 'multiply':
    case 'subtract':
      return `${node.kind.toUpperCase()}(${textOf(node.left)}, ${textOf(node.right)})`;
  }
}
