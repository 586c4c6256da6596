import assert from 'node:assert/strict';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* The commands that look into running processes, on a topology of real ones. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
const AT = [HERE, 'inspected'] as const;
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;

const WAITING = { timeoutMs: 120_000 };

interface ShownProcess {
  readonly name: string;
  readonly pid: number;
  readonly lastExit?: { readonly reason: string };
}

async function processes(heron: HeronCommand): Promise<readonly ShownProcess[]> {
  const { value } = await heron.json('status', ...AT);
  const containers = value['containers'] as readonly { readonly processes: ShownProcess[] }[];
  return containers.flatMap((container) => container.processes);
}

function errorOf(value: JsonValue): string {
  return String((value['error'] as JsonValue)['message']);
}

test('a running topology is looked into, and loses nothing by it', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { path: folder } = await temporaryFolder(t);
  const submitted = await heron.run(
    'submit',
    HERE,
    'inspected.ts',
    'inspected',
    folder,
    ...PATIENTLY,
  );
  assert.equal(submitted.code, 0, submitted.stderr);
  const names = (await processes(heron)).map(({ name }) => name);
  const nameOf = (component: string): string =>
    names.find((name) => name.startsWith(`container_1_${component}_`)) ?? '';
  const [numbers, work, seen] = ['numbers', 'work', 'seen'].map(nameOf) as [string, string, string];

  await t.test(
    'a profile names the busy function of the user, where its author wrote it',
    async () => {
      const out = join(folder, 'work.cpuprofile');
      const { code, value } = await heron.json(
        'profile',
        ...AT,
        work,
        '--seconds',
        '2',
        '--out',
        out,
        '--flame',
      );
      assert.equal(code, 0, JSON.stringify(value));
      const [first] = value['hottest'] as readonly {
        readonly name: string;
        readonly place: string;
      }[];
      assert.equal(first?.name, 'burnTheProcessor');
      assert.match(first.place, /fixtures\/topologies\/inspected\.ts:\d+$/);
      const profile = JSON.parse(await readFile(out, 'utf8')) as JsonValue;
      for (const member of ['nodes', 'samples', 'timeDeltas', 'startTime', 'endTime']) {
        assert.ok(member in profile, member);
      }
      assert.match(await readFile(String(value['flame']), 'utf8'), /<title>burnTheProcessor/);
    },
  );

  await t.test('the profile of a process of the engine', async () => {
    const out = join(folder, 'stmgr.cpuprofile');
    const { code, value } = await heron.json(
      'profile',
      ...AT,
      'stmgr-1',
      '--seconds',
      '1',
      '--out',
      out,
    );
    assert.equal(code, 0, JSON.stringify(value));
    assert.ok('nodes' in (JSON.parse(await readFile(out, 'utf8')) as JsonValue));
  });

  for (const process of [work, 'stmgr-1', 'heron-tmanager', 'heron-executor-0']) {
    await t.test(`a heap snapshot and figures of ${process}`, async () => {
      const out = join(folder, `${process}.heapsnapshot`);
      const { code, value } = await heron.json('heap', ...AT, process, '--out', out);
      assert.equal(code, 0, JSON.stringify(value));
      const text = await readFile(out, 'utf8');
      assert.equal(Buffer.byteLength(text), value['bytes']);
      const { snapshot } = JSON.parse(text) as { snapshot: { node_count: number } };
      assert.ok(snapshot.node_count > 10_000);
      const figures = await heron.run('heap', ...AT, process, '--figures');
      assert.match(figures.stdout, /^heap used by objects: \d+ bytes\n/);
    });
  }

  await t.test('a sample is what was emitted', async () => {
    const [source, result] = await Promise.all([
      heron.json('sample', ...AT, numbers, '--count', '5', '--seconds', '30'),
      heron.json('sample', ...AT, work, '--count', '5', '--seconds', '30', '--stream', 'default'),
    ]);
    const emitted = source.value['tuples'] as readonly JsonValue[];
    assert.equal(emitted.length, 5, JSON.stringify(source.value));
    for (const { values, messageId, roots, stream } of emitted) {
      assert.deepEqual([stream, values], ['default', [Number(messageId)]]);
      assert.match(String((roots as readonly string[])[0]), /^\d+:[0-9a-f]{16}$/);
    }
    const worked = result.value['tuples'] as readonly { values: [number, string]; roots: [] }[];
    assert.equal(worked.length, 5, JSON.stringify(result.value));
    for (const { values, roots } of worked) {
      assert.deepEqual([values[1], roots.length], [`number ${values[0]}`, 1]);
    }
    assert.deepEqual(result.value['fields'], { default: ['number', 'text'] });
    const none = await heron.json('sample', ...AT, work, '--stream', 'words', '--seconds', '5');
    assert.match(errorOf(none.value), /there is no stream 'words', only 'default'/);
  });

  await t.test('the stack of a task that is blocked', async () => {
    await writeFile(join(folder, 'hang'), '');
    await eventually(async () => {
      const { code, stdout } = await heron.run('stack', ...AT, work);
      assert.equal(code, 0);
      assert.match(stdout, /^execute of 'work' \(task \d+\) is running\n/);
      assert.match(stdout, /at holdTheThread \(.*inspected\.ts:\d+/);
    });
    const late = await heron.json('sample', ...AT, work, '--seconds', '1');
    assert.match(errorOf(late.value), /does not answer: its code does not return/);
    await rm(join(folder, 'hang'));
  });

  await t.test('what there is not, and what cannot be done, is said', async () => {
    const unknown = await heron.json('stack', ...AT, 'container_1_wrok_2');
    assert.equal(unknown.code, 1);
    assert.match(errorOf(unknown.value), /has no process 'container_1_wrok_2'; did you mean/);
    const none = await heron.json('sample', ...AT, 'stmgr-1');
    assert.match(errorOf(none.value), /stmgr-1 emits no tuples/);
    const level = await heron.run('log-level', ...AT, 'loud');
    assert.equal(level.code, 1);
    assert.match(level.stderr, /'loud' is invalid.*debug, info, warn, error/);
  });

  await t.test('a level of the log holds at once, and after a restart', async () => {
    const before = (await processes(heron)).find(({ name }) => name === work)?.pid;
    assert.equal((await heron.run('log-level', ...AT, 'warn', 'work')).code, 0);
    const { code, value } = await heron.json('restart', ...AT, work, ...PATIENTLY);
    assert.equal(code, 0, JSON.stringify(value));
    assert.deepEqual(value['restarted'], { containers: [], processes: [work] });
    const after = (await processes(heron)).find(({ name }) => name === work);
    assert.notEqual(after?.pid, before);
    assert.equal(after?.lastExit?.reason, 'restart asked for');
    const opened = async (process: string): Promise<number> => {
      const args = ['logs', ...AT, '--component', process, '--json'];
      const { stdout } = await heron.run(...args);
      return stdout.split('\n').filter((line) => line.includes('the component is open')).length;
    };
    assert.equal(await opened('work'), 1, 'the second life logs nothing of that level');
    assert.equal((await heron.run('log-level', ...AT, 'info', 'work')).code, 0);
    const again = await heron.run('restart', ...AT, work, ...PATIENTLY);
    assert.equal(again.code, 0, again.stderr);
    await eventually(async () => (await opened('work')) === 2);
  });

  await writeFile(join(folder, 'end'), '');
  await eventually(() => access(join(folder, 'seen')), WAITING);
  const [emitted, came] = await Promise.all(
    ['emitted', 'seen'].map((file) => readFile(join(folder, file), 'utf8')),
  );
  assert.equal(came, emitted, 'every number came, whatever was done to the processes');
  assert.ok(Number(came) > 10 && seen !== '');
  assert.equal((await heron.run('kill', ...AT, '--if-exists')).code, 0);
});
