import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSeededRandom } from '../../../src/base/random.ts';
import { randomUuid } from '../../../src/package/topology-id.ts';

it('a random UUID is of version 4, and another each time', () => {
  const random = createSeededRandom(1);
  const uuids = Array.from({ length: 100 }, () => randomUuid(random));
  assert.equal(new Set(uuids).size, 100);
  for (const uuid of uuids) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});
