import assert from 'node:assert/strict';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { LogReader } from '../../../src/cli/logs/log-reader.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* Log files as processes write, rotate and leave them. */

function line(second: number, message: string): string {
  const time = `2026-01-31T10:00:${String(second).padStart(2, '0')}.000Z`;
  return `${JSON.stringify({ time, level: 'info', name: 'p', message })}\n`;
}

async function aFolder(t: TestContext) {
  const { path } = await temporaryFolder(t);
  const reader = new LogReader();
  const write = (name: string, text: string): Promise<void> => appendFile(join(path, name), text);
  const look = async (at: string = path, isFinal = false): Promise<readonly string[]> => {
    const lines = reader.look([{ container: containerId(1), path: at }], { isFinal });
    return (await Array.fromAsync(lines)).map(({ message }) => message);
  };
  return { path, write, look };
}

test('each line is read once, those of one look in the order of time', async (t) => {
  const { write, look } = await aFolder(t);
  await write('a.log', line(1, 'a1') + line(4, 'a4'));
  await write('b.log', line(2, 'b2') + line(3, 'b3'));
  await write('b-metrics.jsonl', line(2, 'no log'));
  assert.deepEqual(await look(), ['a1', 'b2', 'b3', 'a4']);
  assert.deepEqual(await look(), []);
  await write('b.log', line(5, 'b5'));
  assert.deepEqual(await look(), ['b5']);
});

test('a line is read when it is complete, or when nobody will complete it', async (t) => {
  const { write, look } = await aFolder(t);
  const whole = line(1, 'whole');
  await write('a.log', whole.slice(0, 30));
  assert.deepEqual(await look(), []);
  await write('a.log', whole.slice(30));
  await write('a.out', 'last words');
  assert.deepEqual(await look(), ['whole']);
  assert.deepEqual(await look(undefined, true), ['last words']);
});

test('a rotation between two looks loses nothing and repeats nothing', async (t) => {
  const { path, write, look } = await aFolder(t);
  await write('a.log', line(1, 'one'));
  assert.deepEqual(await look(), ['one']);
  await write('a.log', line(2, 'two'));
  await rename(join(path, 'a.log'), join(path, 'a.log.1'));
  await write('a.log', line(3, 'three'));
  assert.deepEqual(await look(), ['two', 'three']);
});

test('files that were rotated before the first look come oldest first', async (t) => {
  const { path, look } = await aFolder(t);
  for (const [name, second] of Object.entries({
    'a.log.2': 1,
    'a.log.10': 0,
    'a.log.1': 2,
    'a.log': 3,
  })) {
    await writeFile(join(path, name), line(second, name));
  }
  assert.deepEqual(await look(), ['a.log.10', 'a.log.2', 'a.log.1', 'a.log']);
});

test('a folder that is moved away is read on from where it was', async (t) => {
  const { path, write, look } = await aFolder(t);
  await mkdir(join(path, 'logs'));
  await write('logs/a.log', line(1, 'one'));
  assert.deepEqual(await look(join(path, 'logs')), ['one']);
  await write('logs/a.log', line(2, 'two'));
  await rename(join(path, 'logs'), join(path, 'kept'));
  assert.deepEqual(await look(join(path, 'logs')), []);
  assert.deepEqual(await look(join(path, 'kept'), true), ['two']);
});

test('long files are read in pieces, with letters that lie across them', async (t) => {
  const { write, look } = await aFolder(t);
  const count = 20_000;
  const text = Array.from({ length: count }, (_, n) => line(n % 60, `ñ${n}`)).join('');
  await write('a.log', text);
  const messages = await look();
  assert.equal(messages.length, count);
  assert.ok(messages.every((message, n) => message === `ñ${n}`));
});
