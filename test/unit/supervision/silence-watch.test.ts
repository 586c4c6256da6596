import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Sign, SilenceWatch } from '../../../src/supervision/silence-watch.ts';

const LIMIT_MS = 10_000;

/** Processes that beat as often as they are looked at, unless they are hung. */
function processes(names: string) {
  const watch = new SilenceWatch(LIMIT_MS);
  const hung = new Set<string>();
  const signs = new Map<string, Sign | undefined>(
    names.split(' ').map((name) => [name, { life: 1, beat: 0 }]),
  );
  let nowMs = 1_000;
  const look = (): readonly string[] => {
    for (const [name, sign] of signs) {
      if (sign !== undefined && !hung.has(name)) signs.set(name, { ...sign, beat: sign.beat + 1 });
    }
    return watch.look(signs, nowMs).map(({ name, silentMs }) => `${name} ${silentMs}`);
  };
  /** What is found, and when, while time passes. */
  const pass = (ms: number): readonly string[] => {
    const found: string[] = [];
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += watch.periodMs;
      found.push(...look().map((text) => `${text} at ${nowMs}`));
    }
    return found;
  };
  look();
  return { watch, hung, signs, look, pass, skip: (ms: number) => (nowMs += ms) };
}

test('nobody is silent who beats', () => {
  const { pass } = processes('a b c');
  assert.deepEqual(pass(100 * LIMIT_MS), []);
});

test('one that hangs is named when its silence is as long as the limit, and until it ends', () => {
  const { pass, hung, signs } = processes('a b c');
  pass(5_000);
  hung.add('b');
  assert.deepEqual(pass(9_000), []);
  assert.deepEqual(pass(2_000), ['b 10000 at 16000', 'b 11000 at 17000']);
  hung.delete('b');
  signs.set('b', { life: 2, beat: 0 });
  assert.deepEqual(pass(50_000), []);
});

test('one that has not begun has four times as long (W1), unless it is known to have begun', () => {
  const { pass, hung, signs } = processes('a b');
  pass(1_000);
  hung.add('new').add('adopted');
  signs.set('new', { life: 1, beat: 0 });
  signs.set('adopted', { life: 1, beat: 0, hasBegun: true });
  signs.set('c', { life: 1, beat: 0 });
  assert.deepEqual(pass(11_000), ['adopted 10000 at 13000']);
  signs.delete('adopted');
  assert.deepEqual(pass(30_000), ['new 40000 at 43000']);
});

test('one that is killed before it has begun has twice as long the next time (W5)', () => {
  const { pass, hung, signs } = processes('a b');
  hung.add('new');
  const limits = [1, 2, 3, 4, 5, 6].map((life) => {
    signs.set('new', { life, beat: 0 });
    const found = pass(32 * LIMIT_MS + 2_000).find((text) => text.startsWith('new'));
    // Between two lives there is nothing to be heard.
    signs.set('new', undefined);
    pass(1_000);
    return found?.split(' ')[1];
  });
  assert.deepEqual(limits, ['40000', '80000', '160000', '320000', '320000', '320000']);
});

test('one that has begun is forgiven, and one that ends by itself gains nothing (W5)', () => {
  const { pass, hung, signs } = processes('a b');
  hung.add('new');
  for (const life of [1, 2]) {
    signs.set('new', { life, beat: 0 });
    pass(30_000);
  }
  signs.set('new', { life: 3, beat: 0 });
  assert.match(pass(42_000)[0] ?? '', /^new 40000 /);
  signs.set('new', { life: 4, beat: 0 });
  hung.delete('new');
  pass(2_000);
  hung.add('new');
  signs.set('new', { life: 5, beat: 0 });
  assert.match(pass(42_000)[0] ?? '', /^new 40000 /);
});

test('a look that comes late accuses nobody (W2)', () => {
  const { pass, hung, look, skip } = processes('a b c');
  pass(5_000);
  hung.add('b');
  pass(9_000);
  skip(5_100);
  assert.deepEqual(look(), []);
  assert.deepEqual(pass(9_000), []);
  assert.deepEqual(pass(1_000), ['b 10000 at 30100']);
});

test('a look that is a little late changes nothing', () => {
  const { pass, hung, look, skip } = processes('a b c');
  pass(5_000);
  hung.add('b');
  pass(8_000);
  skip(5_000);
  assert.deepEqual(look(), ['b 13000']);
});

test('many who fall silent at once are given one more limit, then they are hung (W3)', () => {
  const { pass, hung } = processes('a b c');
  pass(5_000);
  hung.add('a').add('b');
  assert.deepEqual(pass(19_000), []);
  assert.deepEqual(pass(1_000), ['a 10000 at 26000', 'b 10000 at 26000']);
});

test('many who are heard again after the doubt are doubted again another time (W3)', () => {
  const { pass, hung } = processes('a b c');
  pass(5_000);
  for (let round = 0; round < 3; round += 1) {
    hung.add('a').add('b').add('c');
    assert.deepEqual(pass(15_000), []);
    hung.clear();
    assert.deepEqual(pass(30_000), []);
  }
});

test('half of them are no reason for doubt, nor is a single one', () => {
  const four = processes('a b c d');
  four.pass(1_000);
  four.hung.add('a').add('b');
  assert.equal(four.pass(10_000).length, 2);
  const one = processes('a');
  one.pass(1_000);
  one.hung.add('a');
  assert.deepEqual(one.pass(10_000), ['a 10000 at 12000']);
});

test('what cannot be heard is not judged, and begins anew when it can be (W4)', () => {
  const { pass, hung, signs } = processes('a b c');
  pass(5_000);
  hung.add('b');
  pass(9_000);
  const sign = signs.get('b');
  signs.set('b', undefined);
  assert.deepEqual(pass(20_000), []);
  assert.ok(sign !== undefined);
  signs.set('b', sign);
  assert.deepEqual(pass(9_000), []);
  assert.deepEqual(pass(1_000), ['b 10000 at 45000']);
});

test('looks come often enough for the limit, and not more often than they must', () => {
  assert.equal(new SilenceWatch(1_000).periodMs, 100);
  assert.equal(new SilenceWatch(30_000).periodMs, 3_000);
  assert.equal(new SilenceWatch(600_000).periodMs, 5_000);
});
