import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filledLink } from '../../../src/tracker/extra-links.ts';

const VALUES = { cluster: 'c', environ: 'e', topology: 'a/b?&', role: 'r', user: 'u' };

test('the variables of a link are filled in, encoded; what is no variable stays', () => {
  const formatter =
    'https://x/${CLUSTER}/${ENVIRON}/${ROLE}/${USER}?t=${TOPOLOGY}&${TOPOLOGY}&${HOME}';
  const { url } = filledLink({ name: 'Logs', formatter }, VALUES);
  assert.equal(url, 'https://x/c/e/r/u?t=a%2Fb%3F%26&a%2Fb%3F%26&${HOME}');
});
