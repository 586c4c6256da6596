import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../../src/base/ids.ts';
import type { FileFacts, Files } from '../../../../src/base/files.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { systemFiles } from '../../../../src/base/system-files.ts';
import { Settings } from '../../../../src/model/settings.ts';
import { ExecutorSupervisor } from '../../../../src/scheduler/local/executor-supervisor.ts';
import { workingFolderAt } from '../../../../src/scheduler/local/working-folder.ts';
import type { Ending } from '../../../../src/supervision/process-handle.ts';
import type { Command } from '../../../../src/supervision/process-table.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ScriptedProcessTable } from '../../../support/scripted-process-table.ts';
import { settled } from '../../../support/settled.ts';

const LIMIT_MS = 60_000;

type Disk = 'fine' | 'read-only' | 'away' | 'hanging';

/** Three executors that beat unless they are hung, on a disk that the test has in its hands. */
async function aSupervisor() {
  const clock = new ManualClock();
  const hung = new Set<number>();
  const kills: string[] = [];
  const warnings: string[] = [];
  let disk: Disk = 'fine';
  const { promise: recovery, resolve: recover } = Promise.withResolvers<void>();
  let beats = 1;
  const refuse = async <T>(result: T, refusing: readonly Disk[]): Promise<T> => {
    if (disk === 'hanging') await recovery;
    if (refusing.includes(disk)) throw Object.assign(new Error(disk), { code: 'EROFS' });
    return result;
  };
  const files: Files = {
    ...systemFiles,
    facts: (path) => {
      const container = Number(/container-(\d)/.exec(path)?.[1]);
      const modifiedAtMs = hung.has(container) ? 1 : (beats += 1);
      const facts: FileFacts = { isFolder: false, bytes: 0, inode: 1, modifiedAtMs };
      return refuse(facts, ['away']);
    },
    date: () => refuse(undefined, ['away', 'read-only']),
    writeNow: () => {},
    removeNow: () => {},
  };
  const processes = Object.assign(new ScriptedProcessTable(), {
    startDetached: ({ name }: Command) => ({
      pid: 7,
      ended: new Promise<Ending>(() => {}),
      signal: (signal: string) => void kills.push(`${signal} ${name}`),
    }),
  });
  const supervisor = new ExecutorSupervisor({
    folder: workingFolderAt('/no/such/folder'),
    settings: new Settings(new Map([['heron.scheduler.executor.silence.ms', String(LIMIT_MS)]])),
    commandOf: (container) => ({
      name: `executor-${container}`,
      executable: 'node',
      arguments: [],
      environment: {},
      workingDirectory: '/',
      pidFolder: '/',
    }),
    files,
    processes,
    clock,
    random: createSeededRandom(1),
    logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
    onChange: () => {},
  });
  for (const container of [0, 1, 2].map(containerId)) supervisor.add(container);
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      clock.advance(1_000);
      await settled();
    }
  };
  const setDisk = (next: Disk): void => {
    disk = next;
    if (next === 'fine') recover();
  };
  await pass(20_000);
  return { hung, kills, warnings, pass, setDisk };
}

test('an executor whose file is dated no more is killed after its limit (E1)', async () => {
  const { hung, kills, pass } = await aSupervisor();
  hung.add(1);
  await pass(LIMIT_MS - 1_000);
  assert.deepEqual(kills, []);
  await pass(10_000);
  assert.equal(kills[0], 'SIGKILL executor-1');
  assert.ok(kills.every((kill) => kill === 'SIGKILL executor-1'));
});

test('on a disk where nothing can be dated nobody is judged (E1)', async () => {
  const { hung, kills, warnings, pass, setDisk } = await aSupervisor();
  setDisk('read-only');
  for (const container of [0, 1, 2]) hung.add(container); // None of them can beat.
  await pass(5 * LIMIT_MS);
  assert.deepEqual(kills, []);
  assert.ok(warnings.includes('whether executors hang cannot be told'));
  setDisk('fine');
  hung.clear();
  await pass(5 * LIMIT_MS);
  assert.deepEqual(kills, []);
});

for (const disk of ['away', 'hanging'] as const) {
  test(`on a disk that is ${disk} nobody is judged; what hangs is found later`, async () => {
    const { hung, kills, pass, setDisk } = await aSupervisor();
    hung.add(1);
    setDisk(disk);
    await pass(5 * LIMIT_MS);
    setDisk('fine');
    await pass(LIMIT_MS - 10_000);
    assert.deepEqual(kills, []);
    await pass(20_000);
    assert.equal(kills[0], 'SIGKILL executor-1');
  });
}
