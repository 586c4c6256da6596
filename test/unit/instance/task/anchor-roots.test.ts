import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { AnchorRoots } from '../../../../src/instance/task/anchor-roots.ts';

function contents(roots: AnchorRoots): string[] {
  return Array.from(
    { length: roots.count },
    (_, index) => `${roots.task(index)}:${roots.keyHigh(index)}:${roots.keyLow(index)}`,
  );
}

describe('the trees of several anchors', () => {
  it('S09: are there once each, in order', () => {
    const roots = new AnchorRoots();
    for (const [task, low, high] of [
      [1, 5, 0],
      [1, 5, 1],
      [2, 5, 0],
      [1, 5, 0],
      [1, 6, 0],
      [2, 5, 0],
    ] as const) {
      roots.add(task, low, high);
    }
    assert.deepEqual(contents(roots), ['1:0:5', '1:1:5', '2:0:5', '1:0:6']);
    roots.clear();
    assert.equal(roots.count, 0);
  });

  it('S09: are there once each however many they are, and again after each clear', () => {
    const random = createSeededRandom(4);
    const roots = new AnchorRoots();
    for (const kinds of [10, 1_000, 17, 40, 3_000, 2]) {
      roots.clear();
      const model = new Set<string>();
      for (let adds = 0; adds < kinds * 3; adds += 1) {
        const [task, low, high] = [random.below(3), random.below(kinds) - 5, random.below(2) - 1];
        roots.add(task, low, high);
        model.add(`${task}:${high}:${low}`);
      }
      assert.deepEqual(contents(roots), [...model]);
    }
  });
});
