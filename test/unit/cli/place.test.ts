import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completePlace, isAt, parsePlace, placeText } from '../../../src/cli/place.ts';

test('what is left out gets the defaults', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['local', 'local/me/default'],
    ['local/you', 'local/you/default'],
    ['local/you/prod', 'local/you/prod'],
    // `local/$USER/dev` where USER is not set.
    ['local//dev', 'local/me/dev'],
    ['local/first.last@corp/dev', 'local/first.last@corp/dev'],
  ];
  for (const [text, expected] of cases) {
    assert.equal(placeText(completePlace(parsePlace(text), 'me')), expected);
  }
});

test('what is no place is refused', () => {
  const wrong = ['', '/', '.hidden', 'local/.', 'local/..', 'local/a b', 'local/-f', 'local/a/b/c'];
  for (const text of wrong) {
    assert.throws(() => parsePlace(text), { code: 'INVALID_ARGUMENT' }, text);
  }
});

test('a topology is looked for wherever nothing else was written', () => {
  const place = { cluster: 'local', role: 'me', environ: 'dev' };
  const cases = { local: true, 'local/me': true, 'local/me/dev': true, 'local//prod': false };
  for (const [text, expected] of Object.entries({ ...cases, 'local/you': false })) {
    assert.equal(isAt(place, parsePlace(text)), expected, text);
  }
});

test('a cluster whose name could not be a folder is refused', () => {
  assert.throws(() => parsePlace('../me/dev'), {
    code: 'INVALID_ARGUMENT',
    message: /has the cluster '\.\.', which cannot be a name/,
  });
});
