import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* `submit --deploy-deactivated` and `submit --replace`, by the real command and real processes. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
const SUBMIT = ['submit', HERE, 'endless.ts', 'words', '--timeout', '120'] as const;

test('a topology comes up with its spouts at rest, and another one replaces it', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const first = await heron.json(...SUBMIT, '--deploy-deactivated');
  assert.deepEqual([first.code, first.value['state']], [0, 'PAUSED'], JSON.stringify(first.value));
  const status = await heron.json('status', HERE, 'words');
  assert.equal(status.value['state'], 'PAUSED');
  const logs = await heron.run('logs', HERE, 'words', '--component', 'sink');
  assert.doesNotMatch(logs.stdout, /the third word is wrong/, 'nothing was emitted');

  await t.test('a module that is wrong replaces nothing', async () => {
    const { code } = await heron.run('submit', HERE, 'none.ts', 'words', '--replace');
    assert.equal(code, 1);
    assert.equal((await heron.json('status', HERE, 'words')).value['state'], 'PAUSED');
  });

  await t.test('a topology at another place is not replaced', async () => {
    const args = ['submit', 'local/tester/prod', 'endless.ts', 'words', '--replace'];
    const { code, value } = await heron.json(...args);
    assert.equal(code, 102);
    assert.match(String((value['error'] as JsonValue)['message']), /as local\/tester\/dev/);
  });

  const second = await heron.json(...SUBMIT, '--replace');
  assert.deepEqual([second.code, second.value['state']], [0, 'RUNNING']);
  assert.notEqual(second.value['id'], first.value['id']);
  const schedulers = heron.processes().filter(({ name }) => name === 'scheduler');
  assert.equal(schedulers.length, 1);
  assert.equal((await heron.run('kill', HERE, 'words', '--if-exists')).code, 0);
  assert.deepEqual(await heron.files(), []);
  assert.equal((await heron.run('kill', HERE, 'words', '--if-exists')).code, 0);
});
