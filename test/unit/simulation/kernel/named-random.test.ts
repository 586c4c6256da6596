import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Random } from '../../../../src/base/random.ts';
import { NamedRandom } from '../../../../src/simulation/kernel/named-random.ts';

const draw = (random: Random): number[] => Array.from({ length: 5 }, () => random.uint32());

describe('random numbers by name', () => {
  it('depend on the seed and the name alone, not on who else draws', () => {
    const alone = draw(new NamedRandom(7).of('a'));
    const named = new NamedRandom(7);
    draw(named.of('b'));
    assert.deepEqual(draw(named.of('a')), alone);
    assert.notDeepEqual(draw(new NamedRandom(8).of('a')), alone);
    assert.notDeepEqual(draw(new NamedRandom(7).of('b')), alone);
  });

  it('go on where the last one who asked stopped', () => {
    const [first, second] = [new NamedRandom(7), new NamedRandom(7)];
    const whole = [...draw(first.of('a')), ...draw(first.of('a'))];
    const random = second.of('a');
    assert.deepEqual([...draw(random), ...draw(random)], whole);
  });
});
