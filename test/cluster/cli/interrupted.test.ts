import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* Commands that are killed between two of their steps (O23), and what the next one makes of it. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const STUB = join(import.meta.dirname, '../../support/stub-command-line.ts');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;
const SUBMIT = ['submit', HERE, 'endless.ts', 'words', ...PATIENTLY] as const;
const KILL = ['kill', HERE, 'words'] as const;

/** Every step after which something of the submit is left. */
const SUBMIT_STEPS = [
  'claim',
  'note',
  'upload',
  'token',
  'topology',
  'packing-plan',
  'execution-state',
  'launch',
] as const;

async function crash(heron: HeronCommand, step: string, command: readonly string[]): Promise<void> {
  const { child, end } = heron.start([step, ...command], STUB);
  const { stderr } = await end;
  assert.equal(child.signalCode, 'SIGKILL', `after ${step}: ${stderr}`);
}

test('a submit that was killed after any step is cleared away by kill', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  for (const step of SUBMIT_STEPS) {
    await crash(heron, step, SUBMIT);
    const { code, stderr } = await heron.run(...KILL);
    // After `claim` nothing has been stored yet.
    assert.equal(code, step === 'claim' ? 101 : 0, `${step}: ${stderr}`);
    assert.deepEqual(heron.processes(), [], step);
    assert.deepEqual(await remains(heron), [], step);
  }
});

test('a submit that was killed after any step is finished by the next submit', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  // Each one meets the wreckage of the one before it.
  for (const step of SUBMIT_STEPS) await crash(heron, step, SUBMIT);
  const { code, stdout, stderr } = await heron.run(...SUBMIT);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /clearing away what an interrupted command left of words/);
  const schedulers = heron.processes().filter(({ name }) => name === 'scheduler');
  assert.equal(schedulers.length, 1, 'the topology of the killed submit is gone');

  await t.test('a kill that was killed half way is finished by the next command', async () => {
    const { child, end } = heron.start(KILL);
    const request = join(heron.dataRoot, 'topologies/local/tester/words/kill.json');
    await eventually(() => existsSync(request));
    child.kill('SIGKILL');
    await end;
    const { value } = await heron.json('list', 'local');
    assert.deepEqual(value, { topologies: [] });
    assert.deepEqual(heron.processes(), []);
    // What a dead command held reads as absent; the next one that changes anything removes it.
    assert.equal((await heron.run(...KILL, '--if-exists')).code, 0);
    assert.deepEqual(await remains(heron), []);
  });
});

test('a kill that was killed after any step leaves what the next one clears away', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  for (const step of ['kill', 'archives']) {
    await crash(heron, 'launch', SUBMIT);
    await crash(heron, step, KILL);
    const again = await heron.run(...KILL, '--if-exists');
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(heron.processes(), [], step);
    assert.deepEqual(await remains(heron), [], step);
  }
});

test('a submit that replaces and was killed after any step is finished by the same', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const replace = [...SUBMIT, '--replace'] as const;
  assert.equal((await heron.run(...replace)).code, 0);
  for (const step of ['pack', 'claim', 'note', 'topology', 'launch']) {
    await crash(heron, step, replace);
    const { code, stderr } = await heron.run(...replace);
    assert.equal(code, 0, `${step}: ${stderr}`);
    const schedulers = heron.processes().filter(({ name }) => name === 'scheduler');
    assert.equal(schedulers.length, 1, step);
  }
  assert.equal((await heron.run(...KILL)).code, 0);
  assert.deepEqual(await remains(heron), []);
});

test('status shows what a killed submit left, and what to do about it', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  await crash(heron, 'packing-plan', SUBMIT);
  const { code, value } = await heron.json('status', HERE, 'words');
  assert.deepEqual([code, value['state']], [0, 'HALF_DEAD']);
  const { stdout } = await heron.run('status', HERE, 'words');
  assert.match(stdout, /'heron kill' or the same submit clears it away/);
  const activated = await heron.json('activate', HERE, 'words');
  assert.equal(activated.code, 100);
  assert.equal((activated.value['error'] as JsonValue)['code'], 'TOPOLOGY_NOT_READY');
  assert.equal((await heron.run(...KILL)).code, 0);
});

/** Work folders of killed commands are removed by the next submit. */
async function remains(heron: HeronCommand): Promise<readonly string[]> {
  return (await heron.files()).filter((file) => !file.startsWith('tmp/'));
}
