import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand } from '../../support/heron-command.ts';

/* `heron kill --drain` (O30): nothing of what was taken in is lost, and a deadline is kept. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const STUB = join(import.meta.dirname, '../../support/stub-command-line.ts');
const HERE = 'local/tester/dev';
const SUBMIT = ['submit', HERE, 'backlog.ts', 'backlog', '--timeout', '120'] as const;
const DRAIN = ['kill', HERE, 'backlog', '--drain'] as const;
/** On a machine that is busy with other tests. */
const PATIENTLY = { timeoutMs: 60_000, pauseMs: 50 };

test('everything that was emitted is processed, although the master dies', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const submitted = await heron.run(...SUBMIT);
  assert.equal(submitted.code, 0, submitted.stderr);
  const drained = heron.start([...DRAIN, '--timeout', '120', '--json']);
  await eventually(async () => {
    const { value } = await heron.json('list', HERE);
    return JSON.stringify(value).includes('DRAINING');
  }, PATIENTLY);
  const refused = await heron.run('activate', HERE, 'backlog');
  assert.notEqual(refused.code, 0);
  const master = heron.processes().find(({ name }) => name === 'heron-tmanager');
  assert.ok(master !== undefined);
  process.kill(master.pid, 'SIGKILL');
  const { code, stdout, stderr } = await drained.end;
  assert.equal(code, 0, stderr + stdout);
  const { state, drained: isDrained } = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual([state, isDrained], ['KILLED', true]);
  assert.deepEqual(heron.processes(), []);
  const logs = await heron.run('logs', HERE, 'backlog');
  assert.equal(logs.stdout.match(/the topology master serves/g)?.length, 2);
  assert.match(logs.stdout, /emitted 600$/m);
  assert.match(logs.stdout, /processed 600$/m);
});

test('a drain goes on without the command, and ends at its deadline', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const submitted = await heron.run(...SUBMIT, 'stuck');
  assert.equal(submitted.code, 0, submitted.stderr);
  const crashed = heron.start(['drain', ...DRAIN, '--timeout', '5'], STUB);
  const { stderr } = await crashed.end;
  assert.equal(crashed.child.signalCode, 'SIGKILL', stderr);
  // Asked for again with more time: the earlier deadline holds.
  const again = await heron.json(...DRAIN, '--timeout', '3600');
  assert.equal(again.code, 106, JSON.stringify(again.value));
  assert.equal(again.value['drained'], false);
  assert.deepEqual(heron.processes(), []);
  const left = (await heron.files()).filter((file) => !file.startsWith('logs/'));
  assert.deepEqual(left, []);
  assert.equal((await heron.run(...DRAIN)).code, 101);
  assert.equal((await heron.run(...DRAIN, '--if-exists')).code, 0);
});
