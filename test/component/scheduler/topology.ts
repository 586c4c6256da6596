import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { LocalScheduler } from '../../../src/scheduler/local/local-scheduler.ts';
import {
  uploadsFolder,
  type WorkingFolder,
  workingFolderOf,
} from '../../../src/scheduler/local/working-folder.ts';
import type { LaunchRequest } from '../../../src/scheduler/scheduler.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { endProcesses, killProcesses } from '../../../src/supervision/end-processes.ts';
import { readPidFile } from '../../../src/supervision/pid-file.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { findTopologyProcesses } from '../../../src/supervision/topology-processes.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const STUB_SCHEDULER = join(import.meta.dirname, '../../support/stub-scheduler.ts');

const SETTINGS = {
  'heron.shutdown.grace.ms': '100',
  'heron.executor.restart.backoff.min.ms': '20',
  'heron.executor.restart.backoff.max.ms': '50',
};

/** A topology that is submitted but not launched, and the scheduler that is to run it. */
export interface Submitted {
  readonly scheduler: LocalScheduler;
  readonly request: LaunchRequest;
  readonly folder: WorkingFolder;
  readonly dataRoot: string;
  readonly stateManager: StateManager;
  /** Puts the topology's nodes and its archive in place, as submit does. */
  readonly submit: (content?: string) => Promise<void>;
  /** The same scheduler with another state manager. */
  readonly schedulerWith: (stateManager: StateManager) => LocalScheduler;
  /** Every file below the data root but the compile cache and the state manager's own locks. */
  readonly files: () => readonly string[];
}

/** Everything that was started is killed after the test. */
export async function aSubmittedTopology(
  t: TestContext,
  plan: PackingPlan,
  more: Readonly<Record<string, string>> = {},
): Promise<Submitted> {
  const settings = { ...SETTINGS, ...more };
  const { path: dataRoot, [Symbol.asyncDispose]: remove } = await temporaryFolder();
  process.env['HERON_TEST_SETTINGS'] = JSON.stringify(settings);
  process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;
  const state = { kind: 'file', folder: join(dataRoot, 'state') } as const;
  const stateManager = stateManagerAt(state.folder);
  const id = topologyId(`words${randomUUID()}`);
  const target = { topologyName: topologyName('words'), cluster: 'local', role: 'ada' };
  const archive = join(uploadsFolder(dataRoot, target), `${id}.tar.gz`);
  const request: LaunchRequest = { ...target, topologyId: id, environ: 'dev', archive };
  const folder = workingFolderOf(dataRoot, request);
  const schedulerWith = (nodes: StateManager): LocalScheduler =>
    new LocalScheduler({
      dataRoot,
      state,
      hosts: ['127.0.0.1', '127.0.0.2'],
      stateManager: nodes,
      archivesOf: () => ({ remove: async (location) => rmSync(location, { force: true }) }),
      files: systemFiles,
      processes: systemProcessTable,
      executable: process.execPath,
      variables: process.env,
      clock: systemClock,
      logger: silentLogger,
      schedulerCommand: [STUB_SCHEDULER],
    });
  t.after(async () => {
    const machine = { processes: systemProcessTable, clock: systemClock };
    const scheduler = readPidFile(systemFiles, folder.root, 'scheduler');
    if (scheduler !== undefined) await endProcesses([scheduler], { ...machine, graceMs: 0 });
    const left = findTopologyProcesses(systemProcessTable, request.topologyId);
    await killProcesses(left, machine);
    await stateManager.close();
    await remove();
  });
  return {
    scheduler: schedulerWith(stateManager),
    request,
    folder,
    dataRoot,
    stateManager,
    schedulerWith,
    submit: async (content = 'fine') => {
      mkdirSync(dirname(archive), { recursive: true });
      writeFileSync(archive, content);
      await writeNodes(stateManager, request, { plan, settings });
    },
    files: () => filesBelow(dataRoot),
  };
}

/** In the order in which submit writes them. */
async function writeNodes(
  stateManager: StateManager,
  { topologyName: name, topologyId: id }: LaunchRequest,
  { plan, settings }: { readonly plan: PackingPlan; readonly settings: typeof SETTINGS },
): Promise<void> {
  const topology = encodeTopology({
    id,
    name,
    state: 'RUNNING',
    config: new Map(Object.entries(settings)),
    components: [],
  });
  await stateManager.write(paths.topology(name), topology);
  await stateManager.write(paths.packingPlan(name), encodePackingPlan(plan));
  await stateManager.write(paths.executionState(name), Buffer.from('execution state'));
  await stateManager.write(paths.token(name), Buffer.from('a secret'));
}

function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter(
      (file) => !/^compile-cache\/|^state\/\.heron-ts\/(?!tokens|containers|completed)/.test(file),
    )
    .toSorted();
}
