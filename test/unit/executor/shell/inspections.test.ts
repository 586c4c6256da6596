import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Inspections } from '../../../../src/executor/shell/inspections.ts';
import type { Ending, ProcessHandle } from '../../../../src/supervision/process-handle.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** A child whose answers the test gives. */
function aChild() {
  const asked: { readonly id: number; readonly wish: { readonly file?: string } }[] = [];
  const ended = Promise.withResolvers<Ending>();
  let answer: (line: string) => void = () => {};
  const handle: ProcessHandle = {
    pid: 7,
    ended: ended.promise,
    signal() {},
    channel: {
      send: (line) => asked.push(JSON.parse(line) as (typeof asked)[0]) > 0,
      listen: (onLine) => {
        answer = onLine;
      },
    },
  };
  return {
    handle,
    asked,
    end: ended.resolve,
    answer: (line: object) => answer(JSON.stringify(line)),
  };
}

async function inspected(t: TestContext) {
  const { path: folder } = await temporaryFolder(t);
  const clock = new ManualClock();
  const child = aChild();
  const handles = new Map([['word', child.handle]]);
  const silent: string[] = [];
  const withSilence = async <Result>(name: string, work: () => Promise<Result>) => {
    silent.push(name);
    return await work();
  };
  const handleOf = (name: string) => handles.get(name);
  const inspections = new Inspections({ folder, clock, own: 'executor', handleOf, withSilence });
  return { folder, clock, child, inspections, silent };
}

const ENDING: Ending = { code: 0, signal: null, lastLines: [] };

test('an answer is that of its question, whatever else is said', async (t) => {
  const { child, inspections } = await inspected(t);
  const asking = inspections.ask('word', { kind: 'stack' });
  await settled();
  const [{ id } = { id: 0 }] = child.asked;
  child.answer({ id: id + 1, result: { text: 'another' } });
  child.answer({ no: 'answer' });
  child.answer({ id, result: { text: 'here' } });
  assert.deepEqual(await asking, { text: 'here' });
});

test('one question at a time, of each process', async (t) => {
  const { child, inspections } = await inspected(t);
  const first = inspections.ask('word', { kind: 'stack' });
  await assert.rejects(inspections.ask('word', { kind: 'stack' }), /being inspected already/);
  await assert.rejects(inspections.ask('other', { kind: 'stack' }), /does not run at the moment/);
  child.answer({ id: 1, problem: 'it is inside a native call' });
  await assert.rejects(first, {
    code: 'INSPECTION_FAILED',
    message: 'word: it is inside a native call',
  });
  const second = inspections.ask('word', { kind: 'stack' });
  await settled();
  child.answer({ id: 2, result: {} });
  await second;
});

test('a process that ends meanwhile, and one that says nothing', async (t) => {
  const { child, clock, inspections } = await inspected(t);
  const silent = inspections.ask('word', { kind: 'sample', count: 1, seconds: 5 });
  await settled();
  clock.advance(15_000);
  await assert.rejects(silent, /does not answer: it is starting, or its event loop is blocked/);
  const cut = inspections.ask('word', { kind: 'stack' });
  child.end(ENDING);
  await assert.rejects(cut, /it ended before it could answer/);
});

test('the oldest files make room, the newest stay', async (t) => {
  const { folder, child, inspections, silent } = await inspected(t);
  const ask = async (): Promise<string> => {
    const writing = inspections.write('word', { kind: 'heap' });
    const { length } = child.asked;
    while (child.asked.length === length) await settled();
    const { id, wish } = child.asked.at(-1) ?? { id: 0, wish: {} };
    await writeFile(wish.file ?? '', 'snapshot');
    child.answer({ id, result: { bytes: 8 } });
    const written = await writing;
    assert.equal(written.bytes, 8);
    return written.file;
  };
  const file = await ask();
  assert.deepEqual(silent, ['word'], 'it stands still, and is not taken for hung');
  assert.match(file, /^inspections\/word\.[\dTZ-]+\.heapsnapshot$/);
  const kept = join(folder, 'inspections');
  for (let index = 0; index < 30; index += 1) {
    await writeFile(join(kept, `old-${index}`), 'x');
    await utimes(join(kept, `old-${index}`), 1_000 + index, 1_000 + index);
  }
  await ask();
  const names = await readdir(kept);
  assert.ok(names.length <= 20, names.join());
  assert.ok(names.includes('old-29') && !names.includes('old-0'), names.join());
});
