import assert from 'node:assert/strict';
import { copyFile, readFile, symlink, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand } from '../../support/heron-command.ts';

/* `heron dev`: round after round in the foreground, and nothing left of it however it ends. */

const ENDLESS = join(import.meta.dirname, 'fixtures/topologies/endless.ts');
/** On a machine that is busy with other tests. */
const PATIENTLY = { timeoutMs: 120_000, pauseMs: 50 };

async function startDev(heron: HeronCommand, ...options: readonly string[]) {
  await mkdir(join(heron.dataRoot, 'node_modules'));
  await symlink(packageRoot(), join(heron.dataRoot, 'node_modules', 'heron-ts'));
  const file = join(heron.dataRoot, 'words.ts');
  await copyFile(ENDLESS, file);
  const { child, end } = heron.start(['dev', 'words.ts', '--timeout', '120', ...options]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const saying = async (text: RegExp): Promise<void> => {
    // A round that has failed says nothing more.
    const isOver = (): boolean => said.includes('waiting for a change');
    await eventually(() => said.match(text) !== null || isOver(), PATIENTLY);
    assert.match(said, text);
    said = '';
  };
  const change = async (from: string, to: string): Promise<void> => {
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };
  return { child, end, saying, change };
}

test('each change starts a round, whatever became of the one before', async (t) => {
  const heron = await HeronCommand.create(t);
  const { child, end, saying, change } = await startDev(heron);
  await saying(/the sink says hello[\s\S]*at Sink\.execute \(.*words\.ts:\d+:\d+\)/);
  await saying(/^sink +1 +0 +[1-9]\d* +1 /m);
  await change('the sink says hello', 'the sink says good day');
  await saying(/words\.ts has changed[\s\S]*the sink says good day/);
  await change('class Sink', 'clas Sink');
  await saying(/error: cannot bundle words\.ts: .*words\.ts:\d+:\d+: [\s\S]*waiting for a change/);
  assert.deepEqual(heron.processes().length, 1, 'only the command itself');
  await change('clas Sink', 'class Sink');
  await saying(/the sink says good day/);
  child.kill('SIGINT');
  const { code, stderr } = await end;
  assert.equal(code, 0, stderr);
  assert.deepEqual(heron.processes(), []);
  const left = (await heron.files()).filter((name) => !/^(words\.ts|node_modules)/.test(name));
  assert.deepEqual(left, []);
});

test('its processes die with it, and one of them listens for a debugger', async (t) => {
  const heron = await HeronCommand.create(t);
  const { child, end, saying } = await startDev(heron, '--inspect', 'sink=9377');
  await saying(/container_1_sink_2 .*Debugger listening on ws:\/\/127\.0\.0\.1:9377/);
  await saying(/words runs/);
  child.kill('SIGKILL');
  await end;
  await eventually(() => heron.processes().length === 0, PATIENTLY);
});
