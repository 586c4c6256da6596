import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Component } from '../../../src/model/logical-topology.ts';
import { graphProblems } from '../../../src/model/validate-graph.ts';
import { aBolt, aSpout } from '../../support/topologies.ts';

const CASES: readonly {
  readonly name: string;
  readonly components: readonly Component[];
  readonly expected: readonly string[];
}[] = [
  {
    name: 'a diamond',
    components: [
      aSpout('a'),
      aBolt('left', ['a']),
      aBolt('right', ['a']),
      aBolt('join', ['left', 'right']),
    ],
    expected: [],
  },
  {
    name: 'bolts in an order in which readers come before their sources',
    components: [aBolt('c', ['b']), aBolt('b', ['a']), aSpout('a')],
    expected: [],
  },
  {
    name: 'no spout',
    components: [],
    expected: ['the topology has no spout: at least one must emit tuples'],
  },
  {
    name: 'a bolt without inputs, and one that reads only from it',
    components: [aSpout('a'), aBolt('b', []), aBolt('c', ['b'])],
    expected: [
      "bolt 'b' reads nothing: add a grouping, such as shuffleGrouping(source)",
      "bolt 'c' cannot be reached: nothing that a spout emits arrives at it",
    ],
  },
  {
    name: 'a bolt that reads only what does not exist is left to others',
    components: [aSpout('a'), aBolt('b', ['x'])],
    expected: [],
  },
  {
    name: 'a bolt that reads itself',
    components: [aSpout('a'), aBolt('b', ['a', 'b'])],
    expected: ['the bolts form a cycle: b → b; break it at one place'],
  },
  {
    name: 'a cycle in the direction in which tuples flow',
    components: [aSpout('a'), aBolt('b', ['a', 'd']), aBolt('c', ['b']), aBolt('d', ['c'])],
    expected: ['the bolts form a cycle: c → d → b → c; break it at one place'],
  },
  {
    name: 'of two cycles that share a bolt only one',
    components: [aSpout('a'), aBolt('b', ['a', 'c', 'd']), aBolt('c', ['b']), aBolt('d', ['b'])],
    expected: ['the bolts form a cycle: c → b → c; break it at one place'],
  },
  {
    name: 'two cycles, one of which no spout reaches, and a bolt behind it',
    components: [
      aSpout('a'),
      aBolt('b', ['a', 'c']),
      aBolt('c', ['b']),
      aBolt('x', ['y']),
      aBolt('y', ['x']),
      aBolt('z', ['y']),
    ],
    expected: [
      'the bolts form a cycle: c → b → c; break it at one place',
      'the bolts form a cycle: y → x → y; break it at one place',
      "bolt 'z' cannot be reached: nothing that a spout emits arrives at it",
    ],
  },
];

for (const { name, components, expected } of CASES) {
  test(name, () => assert.deepEqual(graphProblems(components), expected));
}

/** Every bolt reads from some of the components with a lower number. */
const acyclicGraphs = fc
  .array(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), { maxLength: 12 })
  .map((reads) => [
    aSpout('0'),
    ...reads.map((sources, i) =>
      aBolt(String(i + 1), [...new Set(sources.map((source) => String(source % (i + 1))))]),
    ),
  ]);

test('a graph that only looks back has no problems, in whatever order it is given', () => {
  fc.assert(
    fc.property(acyclicGraphs, fc.infiniteStream(fc.nat()), (components, ranks) => {
      const shuffled = components
        .map((component) => ({ component, rank: ranks.next().value }))
        .toSorted((left, right) => left.rank - right.rank)
        .map(({ component }) => component);
      assert.deepEqual(graphProblems(shuffled), []);
    }),
  );
});

test('one edge back makes a cycle, and it is found', () => {
  fc.assert(
    fc.property(acyclicGraphs, (components) => {
      // The last bolt's first source, followed to the first bolt, is a path; close it.
      let name = String(components.length - 1);
      let first = name;
      while (name !== '0') {
        first = name;
        const bolt = components[Number(name)];
        name = bolt?.kind === 'bolt' ? String(bolt.inputs[0]?.component) : '0';
      }
      if (first === '0') return;
      const last = String(components.length - 1);
      const closed = components.map((component) =>
        component.kind === 'bolt' && component.name === first
          ? aBolt(first, [...component.inputs, last])
          : component,
      );
      assert.ok(graphProblems(closed).some((problem) => problem.includes('form a cycle')));
    }),
  );
});
