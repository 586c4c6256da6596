import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, THREE_CONTAINERS } from '../support/cluster.ts';

/* A key has one owner, whoever computes it, and the owner outlives every process. */

const KEYS = 10_026;

interface Owned {
  readonly task: number;
  /** Index of a key, and how often it came. */
  readonly owned: readonly (readonly [index: number, count: number])[];
}

/** By key, the task that owns it; each key came from each of three containers. */
function ownerMap(result: unknown, keys: number): readonly number[] {
  const owners = new Array<number>(keys).fill(-1);
  const { owners: answers } = result as { readonly owners: readonly Owned[] };
  for (const { task, owned } of answers) {
    for (const [index, count] of owned) {
      assert.equal(count, 3, `key ${index} came ${count} times to task ${task}`);
      owners[index] = task;
    }
  }
  assert.ok(!owners.includes(-1), 'a key came nowhere');
  assert.equal(new Set(owners).size, 5, 'a task owns nothing');
  return owners;
}

test('S19: keys have the same owners from 3 containers and after a restart', async (t) => {
  const cluster = await aCluster(t);
  const config = THREE_CONTAINERS;
  const before = ownerMap(await cluster.run('owners', 'owners', { config }), KEYS);
  const after = ownerMap(await cluster.run('owners', 'owners', { config }), KEYS);
  assert.deepEqual(after, before);
});

test('with a serializer of the topology the bytes are the key', async (t) => {
  const cluster = await aCluster(t);
  const options = { config: THREE_CONTAINERS, args: ['text'] };
  ownerMap(await cluster.run('owners', 'owners', options), 10_000);
});
