import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures', 'process.ts');

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

interface StartOptions {
  readonly stdin?: 'pipe' | 'ignore';
  readonly args?: readonly string[];
}

interface Started {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly end: Promise<End>;
}

function start(t: TestContext, scenario: string, options: StartOptions = {}): Started {
  const { stdin = 'ignore', args = [] } = options;
  const child = spawn(process.execPath, [FIXTURE, scenario, ...args], {
    stdio: [stdin, 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const { stdout, stderr } = child;
  assert.ok(stdout !== null && stderr !== null);
  const ready = once(stdout, 'data').then(() => {});
  const end = Promise.all([once(child, 'close'), text(stdout), text(stderr)]).then(
    ([[code, signal], out, err]): End => ({ code, signal, out, err }),
  );
  return { child, ready, end };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`P1: ${signal} runs the hooks in order, once, and the process ends with 0`, async (t) => {
    const { child, ready, end } = start(t, 'serve');
    await ready;
    child.kill(signal);
    child.kill(signal);
    const { code, out } = await end;
    assert.deepEqual([code, out], [0, `ready\nfirst ${signal}\nsecond\n`]);
  });
}

test('the end of the parent ends the process in an orderly way', async (t) => {
  const { child, ready, end } = start(t, 'serve', { stdin: 'pipe' });
  await ready;
  child.stdin?.end();
  const { code, out } = await end;
  assert.deepEqual([code, out], [0, 'ready\nfirst parent-ended\nsecond\n']);
});

test('a standard input that is no pipe does not end the process', async (t) => {
  const { child, ready, end } = start(t, 'serve', { stdin: 'ignore' });
  await ready;
  child.kill('SIGTERM');
  assert.match((await end).out, /first SIGTERM/);
});

test('P2: hooks that take too long are given up', async (t) => {
  const { code, err } = await start(t, 'slow-hook').end;
  assert.equal(code, 1);
  assert.match(err, /shutdown took longer than 50 ms/);
});

test('P1: a failing hook is told, the others run, and the end is a failure', async (t) => {
  const { code, out, err } = await start(t, 'failing-hook').end;
  assert.deepEqual([code, out], [1, 'second\n']);
  assert.match(err, /hook is broken/);
});

test('P1: a hook that is added during the end still runs', async (t) => {
  const { code, out } = await start(t, 'hook-adds-hook').end;
  assert.deepEqual([code, out], [0, 'added\n']);
});

test('P1: the first reason to stop decides, and hooks run once', async (t) => {
  const { code, out } = await start(t, 'stop-twice').end;
  assert.deepEqual([code, out], [0, 'hook\n']);
});

test('a process may stop with a code of its own', async (t) => {
  assert.equal((await start(t, 'stop-with-code').end).code, 69);
});

test('an error out of main is told, hooks run, and the code is that of the error', async (t) => {
  const { code, out, err } = await start(t, 'main-rejects').end;
  assert.deepEqual([code, out], [73, 'hook failed\n']);
  assert.match(err, /^heron-fixture cannot go on: port 80 is taken$/m);
});

test('fail does the same later on', async (t) => {
  const { code, out } = await start(t, 'fail').end;
  assert.deepEqual([code, out], [70, 'hook failed\n']);
});

test('P3: an exception that nobody caught ends the process at once, with its stack', async (t) => {
  const { code, out, err } = await start(t, 'throws-later').end;
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /ends by an exception: nobody caught this/);
  assert.match(err, /fixtures\/process\.ts:\d+/);
});

test('P3: a rejection that nobody awaited ends the process by its code', async (t) => {
  const { code, err } = await start(t, 'rejects-later').end;
  assert.equal(code, 69);
  assert.match(err, /ends by a rejection: nobody awaited this/);
});

test('P4: an event loop that runs empty is a failure', async (t) => {
  const { code, err } = await start(t, 'runs-dry').end;
  assert.equal(code, 1);
  assert.match(err, /empty event loop/);
});

test('P4: an exit that foreign code caused is a failure and keeps its own code', async (t) => {
  const zero = await start(t, 'foreign-exit').end;
  assert.equal(zero.code, 70);
  assert.match(zero.err, /some code called process\.exit\(0\)/);
  assert.match(zero.err, /at .*fixtures\/process\.ts:\d+/, 'the caller is shown');
  assert.equal((await start(t, 'foreign-exit-7').end).code, 7);
});

test('a failure goes to the log as one line', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const { code } = await start(t, 'logs', { args: [file] }).end;
  assert.equal(code, 69);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level);
  assert.deepEqual(levels, ['error', 'info']);
  assert.match(lines[0] ?? '', /"exitCode":69/);
});
