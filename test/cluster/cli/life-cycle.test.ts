import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type CommandEnd, HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* One topology from its submit to its kill, by the real command and real processes. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';

test('submit, look, deactivate, activate, kill: each command tells the truth', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);

  const submitted = await heron.run('submit', HERE, 'endless.ts', 'words', '--timeout', '120');
  assert.equal(submitted.code, 0, submitted.stderr);
  assert.match(submitted.stdout, /^words runs; next: 'heron status/m);

  await t.test('success means that every process is up', async () => {
    const { code, value } = await heron.json('status', HERE, 'words');
    assert.equal(code, 0);
    assert.equal(value['state'], 'RUNNING');
    assert.equal(value['role'], 'tester');
    const processes = processesIn(value);
    assert.deepEqual(processes.map(({ name }) => name).toSorted(), [
      'container_1_sink_2',
      'container_1_words_1',
      'heron-metricscache',
      'heron-tmanager',
      'metricsmgr-0',
      'metricsmgr-1',
      'stmgr-1',
    ]);
    assert.ok(processes.every(({ state, restarts }) => state === 'running' && restarts === 0));
  });

  await t.test('the same name is refused, with its own exit code', async () => {
    const { code, value } = await heron.json('submit', HERE, 'endless.ts', 'words');
    assert.equal(code, 102);
    assert.equal(errorIn(value)['code'], 'TOPOLOGY_EXISTS');
  });

  await t.test('list finds it by cluster, role and environment', async () => {
    for (const place of ['local', 'local/tester', HERE]) {
      const { value } = await heron.json('list', place);
      const [only] = value['topologies'] as JsonValue[];
      assert.deepEqual([only?.['name'], only?.['state']], ['words', 'RUNNING'], place);
    }
    const { value } = await heron.json('list', 'local/somebody-else');
    assert.deepEqual(value, { topologies: [] });
  });

  await t.test('a place that is not its own is refused and named', async () => {
    const { code, value } = await heron.json('kill', 'local/tester/prod', 'words');
    assert.equal(code, 101);
    assert.match(String(errorIn(value)['message']), /belongs to local\/tester\/dev/);
  });

  await t.test('a slip in the name is recognised', async () => {
    const { code, stderr } = await heron.run('status', HERE, 'word');
    assert.equal(code, 101);
    assert.match(stderr, /did you mean 'words'\?/);
  });

  await t.test('deactivate and activate change the state, once', async () => {
    for (const [command, state, changed] of [
      ['deactivate', 'PAUSED', true],
      ['deactivate', 'PAUSED', false],
      ['activate', 'RUNNING', true],
    ] as const) {
      const { code, value } = await heron.json(command, HERE, 'words');
      assert.equal(code, 0, JSON.stringify(value));
      assert.deepEqual([value['state'], value['changed']], [state, changed]);
      const { value: status } = await heron.json('status', HERE, 'words');
      assert.equal(status['state'], state);
    }
  });

  await t.test('logs hold what user code printed and threw, in the order of time', async () => {
    const { stdout } = await heron.run('logs', HERE, 'words', '--component', 'sink', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonValue);
    assert.ok(lines.some(({ message }) => message === 'the sink says hello'));
    assert.ok(lines.some(({ message }) => String(message).includes('the third word is wrong')));
    const times = lines.map(({ time }) => String(time));
    assert.deepEqual(times, times.toSorted());
    const errors = await heron.run('logs', HERE, 'words', '--level', 'error');
    assert.match(errors.stdout, /^\S+ container_1_sink_2 ERROR execute of 'sink'/m);
    assert.match(errors.stdout, /^\s+at Sink\.execute \(.*endless\.ts:\d+:\d+\)/m);
  });

  await t.test('a dead scheduler is found and replaced by the next command', async () => {
    const { value: before } = await heron.json('status', HERE, 'words');
    process.kill(Number(before['schedulerPid']), 'SIGKILL');
    await eventually(() => !heron.processes().some(({ pid }) => pid === before['schedulerPid']));
    const { stderr, code } = await heron.run('list', 'local');
    assert.equal(code, 0);
    assert.match(stderr, /the scheduler of words had died; it runs again/);
    const { value: after } = await heron.json('status', HERE, 'words');
    assert.equal(after['state'], 'RUNNING');
    assert.notEqual(after['schedulerPid'], before['schedulerPid']);
    assert.deepEqual(processesIn(after), processesIn(before), 'its executors were left alone');
  });

  await t.test('kill leaves nothing; a follower of the logs ends with it', async () => {
    const follower = heron.start(['logs', '-f', HERE, 'words', '--level', 'error']);
    const { code, stdout } = await heron.run('kill', HERE, 'words');
    assert.equal(code, 0);
    assert.match(stdout, /words is gone/);
    assert.equal((await follower.end).code, 0);
    assert.deepEqual(heron.processes(), []);
    assert.deepEqual(await heron.files(), []);
  });

  const again = await heron.json('kill', HERE, 'words');
  assert.equal(again.code, 101);
  assert.equal(errorIn(again.value)['code'], 'TOPOLOGY_NOT_FOUND');
});

test('of two submits of one name at the same moment one wins', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const submit = (): Promise<CommandEnd> =>
    heron.run('submit', HERE, 'endless.ts', 'words', '--timeout', '120');
  const ends = await Promise.all([submit(), submit()]);
  const codes = ends.map(({ code }) => code).toSorted((a, b) => Number(a) - Number(b));
  assert.deepEqual(codes, [0, 102], ends.map(({ stderr }) => stderr).join('\n'));
  assert.equal(
    (await heron.json('deactivate', HERE, 'words')).code,
    0,
    'the token is the right one',
  );
  assert.equal((await heron.run('kill', HERE, 'words')).code, 0);
});

function errorIn(value: JsonValue): JsonValue {
  return value['error'] as JsonValue;
}

interface ShownProcess {
  readonly name: string;
  readonly pid: number;
  readonly state: string;
  readonly restarts: number;
}

function processesIn(status: JsonValue): readonly ShownProcess[] {
  const containers = status['containers'] as readonly { readonly processes: ShownProcess[] }[];
  return containers.flatMap(({ processes }) => processes);
}
