import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import type { Files } from '../../../src/base/files.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { encodeCompletion } from '../../../src/model/completion.ts';
import { teardown } from '../../../src/scheduler/local/teardown.ts';
import { keptLogsFolder, workingFolderAt } from '../../../src/scheduler/local/working-folder.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedProcessTable } from '../../support/scripted-process-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { timePassing } from '../../support/time-passing.ts';

/* What a teardown does with files, on disks that are not one. */

const name = topologyName('words');
const id = topologyId('words-1234');

async function aTopology(t: TestContext, files: Files) {
  const { path: dataRoot } = await temporaryFolder(t);
  const folder = workingFolderAt(join(dataRoot, 'topologies', 'words'));
  const logs = join(folder.root, 'container-1', 'log-files');
  mkdirSync(join(logs, 'deeper'), { recursive: true });
  writeFileSync(join(logs, 'a.log'), 'one');
  writeFileSync(join(logs, 'deeper', 'b.log'), 'two');
  writeFileSync(folder.schedulerLog, 'three');
  const stateManager = new MemoryStateManager();
  await stateManager.write(paths.topology(name), Buffer.from('a topology'));
  const options = {
    folder,
    dataRoot,
    topologyName: name,
    topologyIds: [id],
    graceMs: 0,
    archive: undefined,
    archives: { remove: async () => {} },
    stateManager,
    keepLogs: true,
    files,
    processes: new ScriptedProcessTable(),
    clock: new ManualClock(),
    logger: silentLogger,
  };
  const kept = (...names: readonly string[]): string =>
    readFileSync(join(keptLogsFolder(dataRoot, id), ...names), 'utf8');
  return { options, folder, stateManager, kept };
}

function failingRename(code: string): Files {
  return {
    ...systemFiles,
    rename: async () => {
      throw Object.assign(new Error(`${code}: rename`), { code });
    },
  };
}

test('logs are kept on another disk too', async (t) => {
  const { options, folder, stateManager, kept } = await aTopology(t, failingRename('EXDEV'));
  await teardown(options);
  assert.deepEqual(
    [kept('container-1', 'a.log'), kept('container-1', 'deeper', 'b.log'), kept('scheduler.log')],
    ['one', 'two', 'three'],
  );
  assert.ok(!existsSync(folder.root));
  assert.equal(await stateManager.read(paths.topology(name)), undefined);
});

for (const [where, files] of [
  ['here', systemFiles],
  ['on another disk', failingRename('EXDEV')],
] as const) {
  test(`dead letters are kept with the logs, ${where}`, async (t) => {
    const { options, folder, kept } = await aTopology(t, files);
    const letters = join(folder.root, 'container-1', 'dead-letters');
    mkdirSync(letters);
    writeFileSync(join(letters, 'lines-3.jsonl'), 'letters');
    await teardown(options);
    assert.equal(kept('container-1', 'dead-letters', 'lines-3.jsonl'), 'letters');
    assert.equal(kept('container-1', 'a.log'), 'one');
  });
}

test('a teardown that ended between logs and dead letters is finished by the next', async (t) => {
  const stopping: Files = {
    ...systemFiles,
    rename: async (from, to) => {
      if (from.endsWith('dead-letters')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await systemFiles.rename(from, to);
    },
  };
  const { options, folder, kept } = await aTopology(t, stopping);
  const letters = join(folder.root, 'container-1', 'dead-letters');
  mkdirSync(letters);
  writeFileSync(join(letters, 'lines-3.jsonl'), 'letters');
  await assert.rejects(teardown(options), (error) => hasCode(error, 'FILE_FAILED'));
  await teardown({ ...options, files: systemFiles });
  assert.equal(kept('container-1', 'dead-letters', 'lines-3.jsonl'), 'letters');
});

for (const [what, record, isKept] of [
  ['goes', undefined, false],
  ['stays when its topology has completed meanwhile', { topologyId: id }, true],
  ['goes when another one has', { topologyId: topologyId('words-older') }, false],
  ['stays when that cannot be told', 'damaged', true],
] as const) {
  test(`what is kept of a container that has left ${what}, without keepLogs`, async (t) => {
    const { options, folder, stateManager } = await aTopology(t, systemFiles);
    const kept = keptLogsFolder(options.dataRoot, id);
    mkdirSync(join(kept, 'container-2'), { recursive: true });
    const rest = { completedAtMs: 1, result: 'completed', incidents: [], recovered: [] } as const;
    if (record !== undefined) {
      const bytes = typeof record === 'string' ? record : encodeCompletion({ ...record, ...rest });
      await stateManager.write(paths.completed(name), Buffer.from(bytes));
    }
    await teardown({ ...options, keepLogs: false });
    assert.equal(existsSync(kept), isKept);
    assert.ok(!existsSync(folder.root));
  });
}

test('logs that cannot be kept stay where they are, and so does the topology (T2)', async (t) => {
  const { options, folder, stateManager } = await aTopology(t, failingRename('EIO'));
  await assert.rejects(teardown(options), (error) => hasCode(error, 'FILE_FAILED'));
  assert.ok(existsSync(join(folder.root, 'container-1', 'log-files', 'a.log')));
  assert.notEqual(await stateManager.read(paths.topology(name)), undefined);
});

test('processes that cannot be ended are named, and nothing is removed (T1, T3)', async (t) => {
  const { options, folder } = await aTopology(t, systemFiles);
  const stuck = options.processes.add(77, []);
  options.processes.mark(stuck, `HERON_TOPOLOGY_ID=${id}`);
  await assert.rejects(timePassing(options.clock, teardown(options)), /cannot be ended: 77/);
  assert.ok(existsSync(folder.root));
});
