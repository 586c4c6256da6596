import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTreeOf, hottest } from '../../../../src/cli/inspect/call-tree.ts';
import { flameGraph } from '../../../../src/cli/inspect/flame-graph.ts';

function node(id: number, functionName: string, children: readonly number[] = []) {
  const url = functionName.startsWith('(') ? '' : 'file:///home/me/words.ts';
  return { id, callFrame: { functionName, url, lineNumber: id, columnNumber: 0 }, children };
}

/** root → execute → (burn, <b>), root → (idle): 1 ms a sample, the clock goes back once. */
const PROFILE = JSON.stringify({
  nodes: [
    node(1, '(root)', [2, 5]),
    node(2, 'execute', [3, 4]),
    node(3, 'burn'),
    node(4, 'a<b>'),
    node(5, '(idle)'),
  ],
  samples: [5, 3, 3, 3, 2, 4, 5],
  timeDeltas: [4_000, 1_000, 1_000, 1_000, 500, 250, -3],
});

test('times are those of the samples, a caller has that of what it called', () => {
  const root = callTreeOf(PROFILE);
  assert.equal(root.totalMs, 7.75);
  const [execute, idle] = root.calls
    .toSorted((one, other) => one.name.length - other.name.length)
    .toReversed();
  assert.deepEqual([execute?.name, execute?.selfMs, execute?.totalMs], ['execute', 0.5, 3.75]);
  assert.equal(execute?.place, 'file:///home/me/words.ts:3');
  assert.deepEqual([idle?.name, idle?.totalMs], ['(idle)', 4]);
  assert.deepEqual(
    hottest(root, 2).map(({ name, selfMs }) => [name, selfMs]),
    [
      ['burn', 3],
      ['execute', 0.5],
    ],
    'idle is no work',
  );
});

test('a flame graph needs nothing from elsewhere, and no name can break out of it', () => {
  const page = flameGraph(callTreeOf(PROFILE), '"><script>');
  assert.match(page, /<title>burn file:\/\/\/home\/me\/words\.ts:4\n3\.0 ms \(80\.0 %\)/);
  assert.ok(page.includes('a&lt;b&gt;'));
  assert.doesNotMatch(page, /<script|src=|href=|@import|\(idle\)/);
});

test('what is no profile is refused', () => {
  const wrong = ['', 'null', '{}', '{"nodes":[],"samples":[],"timeDeltas":[]}', '{"nodes":[1]}'];
  const cycle = JSON.stringify({ nodes: [node(1, 'a', [1])], samples: [], timeDeltas: [] });
  for (const text of [...wrong, cycle]) {
    assert.throws(() => callTreeOf(text), { code: 'NOT_EXPECTED' }, text);
  }
});
