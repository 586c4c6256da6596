import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { topologyId } from '../../../src/base/ids.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../../../src/base/process-identity.ts';
import { RotatingFile } from '../../../src/base/rotating-file.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { adoptProcess } from '../../../src/supervision/adopt-process.ts';
import { endProcesses, killProcesses } from '../../../src/supervision/end-processes.ts';
import { exitReason } from '../../../src/supervision/exit-reason.ts';
import { readPidFile, writePidFile } from '../../../src/supervision/pid-file.ts';
import type { ProcessHandle } from '../../../src/supervision/process-handle.ts';
import type { Command } from '../../../src/supervision/process-table.ts';
import { READY } from '../../../src/supervision/ready-message.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import {
  findTopologyProcesses,
  topologyMark,
} from '../../../src/supervision/topology-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* Real processes, started, watched and ended in the ways that supervisors have. */

const STAYS = `setInterval(() => {}, 1000); console.log('ready');`;
/** Its main thread is inside one call until its input ends, and runs no signal handler. */
const READS_INPUT = `process.on('SIGTERM', () => {}); console.log('ready');
  require('fs').readFileSync(0); process.exit(3)`;
const IGNORES_SIGTERM = `process.on('SIGTERM', () => console.log('no')); ${STAYS}`;

const processes = systemProcessTable;
const machine = { processes, clock: systemClock };

interface Bench {
  readonly folder: string;
  readonly command: (script: string, changes?: Partial<Command>) => Command;
  /** Starts a dependent child and kills it after the test whatever happens. */
  readonly start: (script: string) => ProcessHandle & { readonly identity: ProcessIdentity };
  readonly output: () => string;
}

async function bench(t: TestContext): Promise<Bench> {
  const { path: folder } = await temporaryFolder(t);
  const outputFile = join(folder, 'child.out');
  const command = (script: string, changes: Partial<Command> = {}): Command => ({
    name: 'child',
    executable: process.execPath,
    arguments: ['-e', script],
    environment: process.env,
    workingDirectory: folder,
    pidFolder: folder,
    ...changes,
  });
  return {
    folder,
    command,
    start(script) {
      const openOutput = (): RotatingFile =>
        new RotatingFile({ file: outputFile, bytesMax: 10_000, filesMax: 2 });
      const handle = processes.startDependent(command(script), openOutput);
      t.after(() => handle.signal('SIGKILL'));
      const identity = identityOf(handle.pid ?? 0);
      assert.ok(identity !== undefined);
      return { ...handle, identity };
    },
    output: () => (existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : ''),
  };
}

test('a child is named by a pid file while it lives', async (t) => {
  const { folder, start } = await bench(t);
  const child = start(STAYS);
  assert.deepEqual(readPidFile(systemFiles, folder, 'child'), child.identity);
  child.signal('SIGTERM');
  assert.deepEqual(await child.ended, { code: null, signal: 'SIGTERM', lastLines: [] });
  assert.equal(readPidFile(systemFiles, folder, 'child'), undefined);
  child.signal('SIGKILL'); // Late and harmless.
});

test('SIGTERM comes with the end of the input, for a child that is busy (R7)', async (t) => {
  const { start, output } = await bench(t);
  const child = start(READS_INPUT);
  await eventually(() => output().includes('ready'));
  child.signal('SIGTERM');
  assert.equal((await child.ended).code, 3);
});

test('how a child ended is seen: code, signal and last lines', async (t) => {
  const { start, output } = await bench(t);
  const exited = await start(`console.log('one'); console.error('two'); process.exit(7)`).ended;
  assert.equal(exited.code, 7);
  assert.deepEqual([...exited.lastLines].toSorted(), ['one', 'two']);
  assert.match(output(), /one\n/);

  const threw = await start(`throw new RangeError('out of words')`).ended;
  assert.equal(threw.code, 1);
  assert.ok(threw.lastLines.some((line) => line === 'RangeError: out of words'));

  const child = start(`process.kill(process.pid, 'SIGKILL')`);
  const { code, signal } = await child.ended;
  assert.deepEqual({ code, signal }, { code: null, signal: 'SIGKILL' });
});

test('a heap that is exhausted is told from other ends', async (t) => {
  const { command, folder } = await bench(t);
  const script = `const kept = []; for (;;) kept.push(new Array(1000).fill({}))`;
  const hungry = command('', { arguments: ['--max-old-space-size=16', '-e', script] });
  const openOutput = (): RotatingFile =>
    new RotatingFile({ file: join(folder, 'x.out'), bytesMax: 100_000, filesMax: 1 });
  const ending = await processes.startDependent(hungry, openOutput).ended;
  assert.equal(ending.signal, 'SIGABRT');
  assert.match(exitReason(ending), /^ran out of JavaScript heap/);
});

test('much output is read to its end and kept within its bound', async (t) => {
  const { folder, start } = await bench(t);
  const { lastLines } = await start(`for (let i = 1; i <= 20000; i += 1) console.log('line ' + i)`)
    .ended;
  assert.deepEqual(
    lastLines,
    Array.from({ length: 20 }, (_, index) => `line ${19_981 + index}`),
  );
  const kept = readdirSync(folder).filter((name) => name.startsWith('child.out'));
  const bytes = kept.map((name) => statSync(join(folder, name)).size);
  assert.ok(kept.length <= 2);
  assert.ok(Math.max(...bytes) <= 10_000 + 65_536, `a file and one chunk: ${bytes.join(', ')}`);
});

test('what cannot be started says why', async (t) => {
  const { command, folder } = await bench(t);
  const openOutput = (): RotatingFile =>
    new RotatingFile({ file: join(folder, 'x.out'), bytesMax: 1_000, filesMax: 1 });
  const missing = processes.startDependent(
    command('', { executable: '/no/such/node' }),
    openOutput,
  );
  assert.equal(missing.pid, undefined);
  assert.match((await missing.ended).startProblem ?? '', /child cannot be started: .*ENOENT/);

  const noLog = processes.startDependent(
    command(STAYS),
    () => new RotatingFile({ file: '/proc/x.out', bytesMax: 1, filesMax: 1 }),
  );
  assert.match((await noLog.ended).startProblem ?? '', /cannot write to \/proc\/x\.out/);

  const noPidFile = processes.startDependent(
    command(STAYS, { pidFolder: join(folder, 'none') }),
    openOutput,
  );
  assert.match((await noPidFile.ended).startProblem ?? '', /ENOENT/);
});

test('SIGKILL takes the whole process group, and so does a death', async (t) => {
  const { start } = await bench(t);
  const grandchild = `require('node:child_process').spawn(process.execPath,
    ['-e', ${JSON.stringify(IGNORES_SIGTERM)}], { stdio: 'inherit' });`;
  for (const end of ['SIGKILL', 'SIGTERM'] as const) {
    const child = start(`${grandchild} ${STAYS}`);
    const group = await eventually(() => {
      const found = groupOf(child.identity.pid);
      return found.length === 2 && found;
    });
    child.signal(end);
    await child.ended;
    await eventually(() => !group.some(isAlive));
  }
});

test('the standard input of a dependent child is a pipe that its parent holds', async (t) => {
  const { start } = await bench(t);
  const script = `const { isFIFO, isSocket } = require('node:fs').Stats.prototype;
    const stdin = require('node:fs').fstatSync(0);
    console.log(isFIFO.call(stdin) || isSocket.call(stdin));`;
  assert.deepEqual((await start(script).ended).lastLines, ['true']);
});

test('a dependent child ends when its parent dies, however that happens', async (t) => {
  const { command } = await bench(t);
  const child = `process.stdin.on('end', () => process.exit(0)).resume(); ${STAYS}`;
  const { path: folder } = await temporaryFolder(t);
  const parentModule = join(
    import.meta.dirname,
    '../../../src/supervision/system-process-table.ts',
  );
  const parent = processes.startDetached(
    {
      ...command(`
        const { systemProcessTable } = await import(${JSON.stringify(parentModule)});
        const output = { append() {}, close() {} };
        const command = { name: 'grandchild', executable: process.execPath,
          arguments: ['-e', ${JSON.stringify(child)}], environment: process.env,
          workingDirectory: '.', pidFolder: ${JSON.stringify(folder)} };
        systemProcessTable.startDependent(command, () => output);
        setInterval(() => {}, 1000);`),
      name: 'parent',
    },
    join(folder, 'parent.out'),
  );
  t.after(() => parent.signal('SIGKILL'));
  const grandchild = await eventually(
    () => readPidFile(systemFiles, folder, 'grandchild') ?? false,
  );
  t.after(() => killProcesses([grandchild], machine));
  parent.signal('SIGKILL');
  await eventually(() => !isAlive(grandchild));
});

test('an adopted process is seen to end although it is no child', async (t) => {
  const { folder, command } = await bench(t);
  const clock = new ManualClock();
  const child = processes.startDetached(command(STAYS), join(folder, 'adopted.out'));
  t.after(() => child.signal('SIGKILL'));
  await eventually(() => readFileSync(join(folder, 'adopted.out'), 'utf8') === 'ready\n');
  const identity = readPidFile(systemFiles, folder, 'child');
  assert.ok(identity !== undefined);
  const adopted = adoptProcess(
    { name: 'child', pidFolder: folder, identity, outputFile: join(folder, 'adopted.out') },
    { processes, files: systemFiles, clock },
  );
  assert.equal(adopted.pid, child.pid);
  clock.advance(5_000);
  adopted.signal('SIGTERM');
  await child.ended;
  clock.advance(1_000);
  assert.deepEqual(await adopted.ended, { code: null, signal: null, lastLines: ['ready'] });
  assert.equal(clock.pendingTimers, 0);
});

test('ending insists: SIGTERM, then SIGKILL after the grace time', async (t) => {
  const { start, output } = await bench(t);
  const child = start(IGNORES_SIGTERM);
  await eventually(() => output().includes('ready'));
  assert.deepEqual(await endProcesses([child.identity], { ...machine, graceMs: 50 }), []);
  assert.equal((await child.ended).signal, 'SIGKILL');
  assert.match(output(), /no\n/);
});

test('a process with the same pid and another start time is never touched', async (t) => {
  const { folder, start, output } = await bench(t);
  const child = start(IGNORES_SIGTERM);
  await eventually(() => output().includes('ready'));
  const earlier = { ...child.identity, startTicks: child.identity.startTicks - 1 };
  writePidFile(systemFiles, folder, { name: 'earlier', identity: earlier });
  const record = readPidFile(systemFiles, folder, 'earlier');
  assert.ok(record !== undefined);
  assert.deepEqual(await endProcesses([record], { ...machine, graceMs: 0 }), []);
  assert.deepEqual(await killProcesses([record], machine), []);
  child.signal('SIGTERM');
  await eventually(() => output().includes('no\n')); // It still answers.
});

test('a topology’s processes are found by their mark, orphans and other groups too', async (t) => {
  const { folder, command } = await bench(t);
  const id = topologyId(`words-${randomUUID()}`);
  const orphan = `process.title = 'another name'; ${STAYS}`;
  const parent = processes.startDetached(
    command(
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(orphan)}],
         { detached: true, stdio: 'ignore' });`,
      { environment: { ...process.env, ...topologyMark(id) }, pidFolder: undefined },
    ),
    join(folder, 'parent.out'),
  );
  // The orphan leads a group of its own, so the end of its parent spares it.
  await eventually(() => findTopologyProcesses(processes, id).length === 2);
  t.after(() => killProcesses(findTopologyProcesses(processes, id), machine));
  parent.signal('SIGTERM');
  await parent.ended;
  const left = await eventually(() => {
    const found = findTopologyProcesses(processes, id);
    return found.length === 1 && found;
  });
  assert.deepEqual(findTopologyProcesses(processes, topologyId(`${id}x`)), []);
  assert.deepEqual(findTopologyProcesses(processes, topologyId(id.slice(0, -1))), []);
  assert.deepEqual(await killProcesses(left, machine), []);
  assert.deepEqual(findTopologyProcesses(processes, id), []);
});

/** The live members of a process group, by /proc. */
function groupOf(leader: number): readonly ProcessIdentity[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    const identity = identityOf(Number(entry));
    if (identity === undefined) return [];
    const status = readFileSync(`/proc/${entry}/stat`, 'latin1');
    const group = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[2]);
    return group === leader ? [identity] : [];
  });
}

test('a child can say that it does its work, and only in the agreed words', async (t) => {
  const { command, folder } = await bench(t);
  const openOutput = (): RotatingFile =>
    new RotatingFile({ file: join(folder, 'ready.out'), bytesMax: 10_000, filesMax: 2 });
  const script = (words: string): string => `process.send(${words}); ${STAYS}`;
  const start = (words: string): ProcessHandle => {
    const ready = { saysReady: true } as const;
    const handle = processes.startDependent(command(script(words), ready), openOutput);
    t.after(() => handle.signal('SIGKILL'));
    return handle;
  };
  const other = start(`'ready'`);
  let hasSaidSo = false;
  void other.ready?.then(() => {
    hasSaidSo = true;
  });
  await start(JSON.stringify(READY)).ready;
  other.signal('SIGTERM');
  await other.ended;
  assert.ok(!hasSaidSo);
});
