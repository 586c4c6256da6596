import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* `heron dead-letters` with the tasks that own them: poison is set aside, seen, replayed. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = { timeoutMs: 60_000, pauseMs: 50 };
const LINES = ['one', 'bad line', 'two', 'three'];

interface Listed extends JsonValue {
  readonly total: number;
  readonly letters: readonly { readonly id: string; readonly reason: JsonValue }[];
}

async function files(t: TestContext) {
  const { path } = await temporaryFolder(t);
  const [lines, mended] = [join(path, 'lines.txt'), join(path, 'mended')];
  await writeFile(lines, `${LINES.join('\n')}\n`);
  return { lines, mended };
}

test('O38: poison of a running topology is seen, and processed once it can be', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { lines, mended } = await files(t);
  const submit = ['submit', HERE, 'letters.ts', 'letters', '--timeout', '120'];
  const submitted = await heron.run(...submit, lines, mended, 'follow');
  assert.equal(submitted.code, 0, submitted.stderr);
  const letters = (command: string, ...args: readonly string[]) =>
    heron.json('dead-letters', command, HERE, 'letters', ...args);
  const untilThereAre = (total: number) =>
    eventually(async () => {
      const { value } = await letters('list');
      return value['total'] === total && (value as Listed);
    }, PATIENTLY);

  const { letters: listed } = await untilThereAre(1);
  const [letter] = listed;
  assert.ok(letter !== undefined);
  const { kind, component, message } = letter.reason;
  assert.deepEqual([kind, component, message], ['thrown', 'check', 'cannot take bad line']);
  const shown = await heron.run('dead-letters', 'show', HERE, 'letters', letter.id);
  assert.match(shown.stdout, /^line +'bad line'$/m);

  await writeFile(mended, '');
  const replay = await letters('replay', letter.id, '--timeout', '60');
  assert.deepEqual([replay.code, replay.value['replayed']], [0, 1], JSON.stringify(replay.value));
  await untilThereAre(0);
  const logs = await heron.run('logs', HERE, 'letters', '--component', 'check');
  for (const line of LINES) assert.match(logs.stdout, new RegExp(`took ${line}$`, 'm'));

  const { value } = await heron.json('status', HERE, 'letters');
  const { mode } = value['delivery'] as JsonValue;
  assert.equal(mode, 'ATLEAST_ONCE');
  await eventually(async () => {
    const status = await heron.run('status', HERE, 'letters');
    return /^lines +0 +4 +2 +2 thrown +1$/m.test(status.stdout);
  }, PATIENTLY);

  await appendFile(lines, Buffer.from([0xff, 0x0a]));
  await untilThereAre(1);
  const purge = await letters('purge', '--yes');
  assert.deepEqual([purge.code, purge.value['purged']], [0, 1], JSON.stringify(purge.value));
  await untilThereAre(0);
  assert.equal((await heron.run('kill', HERE, 'letters')).code, 0);
});

test('letters of a topology that has completed stay until they are removed', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { lines, mended } = await files(t);
  const args = ['run', HERE, 'letters.ts', 'letters', '--timeout', '120', lines, mended];
  const ran = await heron.run(...args);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /^1 dead letter: 'heron dead-letters list local\/tester\/dev letters'/m);
  const list = await heron.json('dead-letters', 'list', HERE, 'letters');
  assert.equal(list.value['total'], 1);
  const replay = await heron.json('dead-letters', 'replay', HERE, 'letters');
  assert.equal(replay.code, 100);
  const purge = await heron.json('dead-letters', 'purge', HERE, 'letters', '--yes');
  assert.equal(purge.value['purged'], 1);
});
