import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* `heron run`: in the foreground from the start of a topology to its end, whatever kind of end. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;

test('a topology whose input ends: exit code 0, and only its logs are left', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { code, value } = await heron.json('run', HERE, 'short.ts', 'short', ...PATIENTLY);
  assert.equal(code, 0);
  assert.deepEqual([value['state'], value['result']], ['COMPLETED', 'completed']);
  assert.deepEqual(heron.processes(), []);
  const logs = String(value['logs']).slice(heron.dataRoot.length + 1);
  const others = (await heron.files()).filter((file) => !file.startsWith(logs));
  assert.deepEqual(others, ['repository/state/local/.heron-ts/completed/short']);

  await t.test('status and list remember that it has completed', async () => {
    const status = await heron.json('status', HERE, 'short');
    assert.deepEqual([status.code, status.value['state']], [0, 'COMPLETED']);
    const list = await heron.json('list', HERE);
    const [only] = list.value['topologies'] as JsonValue[];
    assert.deepEqual([only?.['name'], only?.['state']], ['short', 'COMPLETED']);
  });

  await t.test('its logs can still be read', async () => {
    const { stdout, code: logsCode } = await heron.run('logs', HERE, 'short');
    assert.equal(logsCode, 0);
    assert.match(stdout, /heron-tmanager INFO every task has ended/);
  });

  await t.test('there is nothing to kill', async () => {
    assert.equal((await heron.run('kill', HERE, 'short')).code, 101);
  });
});

test('Ctrl-C kills the topology and says so by the exit code', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { child, end } = heron.start(['run', HERE, 'endless.ts', 'words', ...PATIENTLY]);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await eventually(() => said.includes('words runs; Ctrl-C kills it'), { timeoutMs: 120_000 });
  child.kill('SIGINT');
  const { code, stderr } = await end;
  assert.equal(code, 130, stderr);
  assert.match(stderr, /words was interrupted and killed/);
  assert.deepEqual(heron.processes(), []);
  assert.deepEqual(await heron.files(), []);
});

test('a component that cannot be opened: the cause is shown and nothing is left', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { code, value } = await heron.json(
    'submit',
    HERE,
    'short.ts',
    'short',
    'prepare',
    ...PATIENTLY,
  );
  assert.equal(code, 103);
  const error = value['error'] as JsonValue;
  assert.equal(error['code'], 'TOPOLOGY_FAILED');
  assert.match(String(error['message']), /container_1_sink_2 .*no luck in prepare/);
  const details = (error['details'] as string[]).join('\n');
  assert.match(details, /at Sink\.\S+ \(.*short\.ts:\d+:\d+\)/);
  assert.deepEqual(heron.processes(), []);
  const files = await heron.files();
  assert.ok(files.length > 0 && files.every((file) => file.startsWith('logs/short')), 'only logs');
});

test('a start that takes too long: its own exit code, and nothing is left', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  // The documentation network of RFC 5737: no process can listen there.
  const nowhere = 'heron.scheduler.local.hosts=192.0.2.1';
  const args = ['short.ts', 'short', '--config-property', nowhere, '--timeout', '3'];
  const { code, value } = await heron.json('submit', HERE, ...args);
  assert.equal(code, 105);
  const message = String((value['error'] as JsonValue)['message']);
  assert.match(message, /did not run within 3 s; missing: /);
  assert.deepEqual(heron.processes(), []);
});
