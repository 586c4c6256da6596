import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* `heron restart` of a process, of a container and of everything, by real processes. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const STUB = join(import.meta.dirname, '../../support/stub-command-line.ts');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;

async function pids(heron: HeronCommand): Promise<Readonly<Record<string, number>>> {
  const { value } = await heron.json('status', HERE, 'words');
  const containers = value['containers'] as readonly {
    readonly processes: readonly { readonly name: string; readonly pid: number }[];
  }[];
  const processes = containers.flatMap((container) => container.processes);
  return Object.fromEntries(processes.map(({ name, pid }) => [name, pid]));
}

test('what is named is started anew, and nothing else', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const args = ['submit', HERE, 'endless.ts', 'words', '--deploy-deactivated', ...PATIENTLY];
  assert.equal((await heron.run(...args)).code, 0);
  const first = await pids(heron);

  await t.test('one process', async () => {
    const { code, value } = await heron.json('restart', HERE, 'words', 'stmgr-1', ...PATIENTLY);
    assert.equal(code, 0, JSON.stringify(value));
    assert.deepEqual(value['restarted'], { containers: [], processes: ['stmgr-1'] });
    const { 'stmgr-1': streamManager, ...others } = await pids(heron);
    const { 'stmgr-1': before, ...othersBefore } = first;
    assert.notEqual(streamManager, before);
    assert.deepEqual(others, othersBefore);
  });

  await t.test('one container; the topology stays deactivated', async () => {
    const before = await pids(heron);
    const { code, stderr } = await heron.run('restart', HERE, 'words', '1', ...PATIENTLY);
    assert.equal(code, 0, stderr);
    const after = await pids(heron);
    const isOfMaster = (name: string): boolean =>
      /^(heron-tmanager|heron-metricscache|metricsmgr-0)$/.test(name);
    assert.deepEqual(Object.keys(after).toSorted(), Object.keys(before).toSorted());
    for (const [name, pid] of Object.entries(after)) {
      assert.equal(pid === before[name], isOfMaster(name), name);
    }
    assert.equal((await heron.json('status', HERE, 'words')).value['state'], 'PAUSED');
  });

  await t.test('everything, also by a command that takes over from a killed one', async () => {
    const before = await pids(heron);
    const crashed = heron.start(['restart', 'restart', HERE, 'words', ...PATIENTLY], STUB);
    await crashed.end;
    assert.equal(crashed.child.signalCode, 'SIGKILL');
    const { code, stderr } = await heron.run('restart', HERE, 'words', '-1', ...PATIENTLY);
    assert.equal(code, 0, stderr);
    const after = await pids(heron);
    assert.deepEqual(Object.keys(after).toSorted(), Object.keys(before).toSorted());
    for (const [name, pid] of Object.entries(after)) assert.notEqual(pid, before[name], name);
  });

  await t.test('what is not there is refused, with what was probably meant', async () => {
    const cases = {
      '7': /has no container 7; its containers are 0 to 1/,
      'stmgr-2': /no process 'stmgr-2'; did you mean 'stmgr-1'\?/,
    };
    for (const [what, expected] of Object.entries(cases)) {
      const { code, value } = await heron.json('restart', HERE, 'words', what);
      assert.equal(code, 1);
      assert.match(String((value['error'] as JsonValue)['message']), expected);
    }
  });

  assert.equal((await heron.run('kill', HERE, 'words')).code, 0);
  assert.deepEqual(await heron.files(), []);
});
