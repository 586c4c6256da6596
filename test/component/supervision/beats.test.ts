import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BEAT_VARIABLE, beatsFor } from '../../../src/base/beat.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { RotatingFile } from '../../../src/base/rotating-file.ts';
import { systemCodeOf } from '../../../src/base/system-codes.ts';
import type { ProcessHandle } from '../../../src/supervision/process-handle.ts';
import type { Command } from '../../../src/supervision/process-table.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* Beats between real processes: who gives them, who hears them, and that they stop nobody. */

const MODULE = pathToFileURL(join(import.meta.dirname, '../../../src/net/beat-pipe.ts')).href;
const BEATS = `const { startBeating } = await import(${JSON.stringify(MODULE)}); startBeating(20);`;
const STAYS = `setInterval(() => {}, 1000); console.log('up');`;
const PARENT = `const { spawn } = await import('node:child_process');
  spawn(process.execPath, ['-e', ${JSON.stringify(`${BEATS} console.log('grandchild');`)}],
    { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
    .stdio[3].on('data', () => console.log('a grandchild has beaten'));`;

async function aChild(
  t: TestContext,
  script: string,
  changes: Partial<Command> = {},
): Promise<ProcessHandle & { readonly beats: () => number }> {
  const { path: folder } = await temporaryFolder(t);
  const command: Command = {
    name: 'child',
    executable: process.execPath,
    arguments: ['--input-type=module', '-e', script],
    environment: process.env,
    workingDirectory: folder,
    pidFolder: undefined,
    beats: true,
    ...changes,
  };
  const file = join(folder, 'child.out');
  const openOutput = (): RotatingFile => new RotatingFile({ file, bytesMax: 10_000, filesMax: 2 });
  const handle = systemProcessTable.startDependent(command, openOutput);
  t.after(() => handle.signal('SIGKILL'));
  return { ...handle, beats: () => handle.beats?.() ?? -1 };
}

async function passed(ms: number): Promise<void> {
  const startMs = systemClock.now();
  await eventually(() => systemClock.now() - startMs > ms);
}

test('a child is heard for as long as its event loop turns, and no longer', async (t) => {
  const child = await aChild(t, `${BEATS} ${STAYS}`);
  assert.equal(child.beats(), 0);
  await eventually(() => child.beats() >= 5);
  process.kill(child.pid ?? 0, 'SIGSTOP');
  await passed(100); // What was under way.
  const stopped = child.beats();
  await passed(300);
  assert.equal(child.beats(), stopped);
  process.kill(child.pid ?? 0, 'SIGCONT');
  await eventually(() => child.beats() >= stopped + 5);
});

test('beats of a thread go on while the main thread is busy', async (t) => {
  const inThread = JSON.stringify(`(async () => { ${BEATS} ${STAYS} })();`);
  const child = await aChild(
    t,
    `const { Worker } = await import('node:worker_threads');
     const { once } = await import('node:events');
     await once(new Worker(${inThread}, { eval: true }), 'online');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
    { saysReady: true },
  );
  await eventually(() => child.beats() >= 50);
});

test('beats keep no process alive', async (t) => {
  const child = await aChild(t, BEATS);
  const { code } = await child.ended;
  assert.equal(code, 0);
});

test('a child that is not to beat does not, nor does a grandchild', async (t) => {
  const wish = `console.log(process.env.${BEAT_VARIABLE} ?? 'silence')`;
  const environment = { ...process.env, ...beatsFor(process) };
  const silent = await aChild(t, wish, { beats: false, environment });
  assert.equal(silent.beats(), -1);
  assert.deepEqual((await silent.ended).lastLines, ['silence']);
  const parent = await aChild(t, PARENT);
  const { lastLines } = await parent.ended;
  assert.deepEqual(lastLines, ['grandchild']);
  assert.equal(parent.beats(), 0);
});

test('a parent that does not read holds nobody up', async (t) => {
  const { path } = await temporaryFolder(t);
  const full = aFullPipe(join(path, 'pipe'));
  t.after(() => closeSync(full));
  const script = `const { startBeating } = await import(${JSON.stringify(MODULE)});
    startBeating(1);
    let turns = 0;
    setInterval(() => { turns += 1; if (turns === 50) console.log('still here'); }, 1);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, [BEAT_VARIABLE]: String(process.pid) },
    stdio: ['pipe', 'pipe', 'inherit', full],
  });
  t.after(() => child.kill('SIGKILL'));
  const [chunk] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  assert.equal(chunk.toString(), 'still here\n');
});

/** Nobody reads it, and not one more byte has room in it. */
function aFullPipe(path: string): number {
  execFileSync('mkfifo', [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  for (const bytes of [65_536, 4_096, 1]) {
    while (hasRoomFor(descriptor, bytes));
  }
  return descriptor;
}

function hasRoomFor(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, new Uint8Array(bytes)) > 0;
  } catch (error) {
    assert.equal(systemCodeOf(error), 'EAGAIN');
    return false;
  }
}
