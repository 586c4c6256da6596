import assert from 'node:assert/strict';
import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemProcessIdentities as processes } from '../../../src/base/process-identities.ts';
import { systemFiles as files } from '../../../src/base/system-files.ts';
import { encodeCompletion } from '../../../src/model/completion.ts';
import { writeLaunchRecord } from '../../../src/scheduler/local/launch-record.ts';
import { removeExpired } from '../../../src/scheduler/local/retention.ts';
import { keptLogsFolder, workingFolderOf } from '../../../src/scheduler/local/working-folder.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { schedulerArguments } from '../../support/scheduler-arguments.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('records and logs of completed topologies go when their time is over', async (t) => {
  const { path: dataRoot } = await temporaryFolder(t);
  const clock = new ManualClock();
  const stateManager = new MemoryStateManager();
  const complete = async (name: string, agoMs: number): Promise<void> => {
    const id = topologyId(`${name}-id`);
    mkdirSync(keptLogsFolder(dataRoot, id), { recursive: true });
    const completedAtMs = clock.wallNow() - agoMs;
    const completion = {
      topologyId: id,
      completedAtMs,
      result: 'completed',
      incidents: [],
      recovered: [],
    } as const;
    await stateManager.write(paths.completed(topologyName(name)), encodeCompletion(completion));
  };
  await complete('old', 1_001);
  await complete('young', 1_000);
  await stateManager.write(paths.completed(topologyName('damaged')), Buffer.from('{'));
  const logger = silentLogger;
  await removeExpired({ dataRoot, stateManager, retentionMs: 1_000, files, clock, logger });
  assert.deepEqual(await stateManager.list(paths.completedTopologies), ['damaged', 'young']);
  assert.ok(!existsSync(keptLogsFolder(dataRoot, topologyId('old-id'))));
  assert.ok(existsSync(keptLogsFolder(dataRoot, topologyId('young-id'))));
});

test('so do logs that no record is about', async (t) => {
  const { path: dataRoot } = await temporaryFolder(t);
  const clock = new ManualClock();
  const stateManager = new MemoryStateManager();
  const keep = (name: string, agoMs: number): string => {
    const folder = keptLogsFolder(dataRoot, topologyId(name));
    mkdirSync(folder, { recursive: true });
    const seconds = (clock.wallNow() - agoMs) / 1000;
    utimesSync(folder, seconds, seconds);
    return folder;
  };
  const old = keep('old', 2_000);
  const young = keep('young', 500);
  const logger = silentLogger;
  await removeExpired({ dataRoot, stateManager, retentionMs: 1_000, files, clock, logger });
  assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
});

test('what is kept of containers that have left stays while their topology runs', async (t) => {
  const { path: dataRoot } = await temporaryFolder(t);
  const clock = new ManualClock();
  const record = { ...schedulerArguments(), dataRoot };
  await writeLaunchRecord({ files, processes }, workingFolderOf(dataRoot, record), record);
  const folders = [record.topologyId, topologyId('another')].map((id) => {
    const folder = keptLogsFolder(dataRoot, id);
    mkdirSync(folder, { recursive: true });
    utimesSync(folder, 1, 1);
    return folder;
  });
  const options = { dataRoot, retentionMs: 1_000, files, clock, logger: silentLogger };
  await removeExpired({ ...options, stateManager: new MemoryStateManager() });
  assert.deepEqual(folders.map(existsSync), [true, false]);
});
