import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { hasCode } from '../../../src/base/errors.ts';
import { containerId, topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { ENGINE_VERSION } from '../../../src/base/version.ts';
import { parseContainerReport } from '../../../src/model/container-report.ts';
import { packArchive } from '../../../src/package/archive.ts';
import { encodeManifest } from '../../../src/package/archive-manifest.ts';
import { systemEnvironment } from '../../../src/process-start/system-environment.ts';
import { setUpContainer } from '../../../src/scheduler/local/container-setup.ts';
import { uploadsFolder } from '../../../src/scheduler/local/working-folder.ts';
import { createScheduler } from '../../../src/scheduler/create.ts';
import { createStateManager } from '../../../src/state-manager/create.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { killProcesses } from '../../../src/supervision/end-processes.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { findTopologyProcesses } from '../../../src/supervision/topology-processes.ts';
import { createUploader } from '../../../src/uploader/create.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* The local scheduler's own entry points and a real archive, with container 0 only. */

const environment = systemEnvironment(systemProcessTable);
const { files, processes, clock, random } = environment;
const target = { topologyName: topologyName('words'), cluster: 'local', role: 'ada' };
const request = { ...target, topologyId: topologyId('words-real-entries'), environ: 'dev' };

const definition = encodeTopology({
  id: request.topologyId,
  name: request.topologyName,
  state: 'RUNNING',
  config: new Map([['heron.shutdown.grace.ms', '500']]),
  components: [],
});

/** An uploaded archive made by some version of the engine. */
async function anUpload(t: TestContext, engineVersion = ENGINE_VERSION) {
  const { path: dataRoot, [Symbol.asyncDispose]: remove } = await temporaryFolder();
  t.after(async () => {
    const left = findTopologyProcesses(processes, request.topologyId);
    await killProcesses(left, { processes, clock });
    await remove();
  });
  const source = join(dataRoot, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'words.defn'), definition);
  writeFileSync(join(source, 'heron-ts.json'), encodeManifest({ engineVersion, createdAtMs: 1 }));
  const file = join(dataRoot, 'words.tar.gz');
  await packArchive(file, source, ['words.defn', 'heron-ts.json']);
  const archives = createUploader({
    kind: 'file',
    folder: uploadsFolder(dataRoot, target),
    random,
    files,
  });
  return { dataRoot, archives, archive: await archives.upload(request.topologyId, file) };
}

test('a container’s folder is made once and holds what its processes need', async (t) => {
  const { dataRoot, archives, archive } = await anUpload(t);
  const folder = join(dataRoot, 'container-1');
  const setup = { folder, topologyName: request.topologyName, archive, archives };
  mkdirSync(folder);
  writeFileSync(join(folder, 'of an interrupted attempt'), '');
  await setUpContainer(setup);
  assert.deepEqual(
    ['words.defn', 'log-files', 'words.tar.gz', 'of an interrupted attempt'].map((name) =>
      existsSync(join(folder, name)),
    ),
    [true, true, false, false],
  );
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.ok(lstatSync(join(folder, 'node_modules', 'heron-ts')).isSymbolicLink());
  assert.ok(existsSync(join(folder, 'node_modules', 'heron-ts', 'package.json')));
  assert.ok(existsSync(packageRoot()));
  writeFileSync(join(folder, 'log-files', 'a.log'), 'stays');
  await archives.remove(archive);
  await setUpContainer(setup);
  assert.ok(existsSync(join(folder, 'log-files', 'a.log')));
});

test('an archive of another version is refused, and the next attempt begins anew', async (t) => {
  const { dataRoot, archives, archive } = await anUpload(t, '9.9.9');
  const folder = join(dataRoot, 'container-1');
  const setup = { folder, topologyName: request.topologyName, archive, archives };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await assert.rejects(setUpContainer(setup), (error) => hasCode(error, 'VERSION_MISMATCH'));
  }
});

test('a topology is launched, reported and killed by the real processes', async (t) => {
  const { dataRoot, archive } = await anUpload(t);
  const state = { kind: 'file', folder: join(dataRoot, 'state') } as const;
  const surroundings = { ...environment, logger: silentLogger };
  const stateManager = createStateManager(state, surroundings);
  t.after(() => stateManager.close());
  const { topologyName: name } = target;
  await stateManager.write(paths.topology(name), definition);
  await stateManager.write(paths.packingPlan(name), encodePackingPlan(packingPlanOf({})));
  await stateManager.write(paths.executionState(name), Buffer.from('execution state'));
  await stateManager.write(paths.token(name), Buffer.from('a secret'));
  const scheduler = createScheduler({
    ...surroundings,
    kind: 'local',
    dataRoot,
    state,
    stateManager,
  });
  await scheduler.launch({ ...request, archive });
  await eventually(async () => {
    const bytes = await stateManager.read(paths.container(name, containerId(0)));
    const names = bytes && parseContainerReport(bytes).processes.map((process) => process.name);
    assert.deepEqual(names, ['metricsmgr-0', 'heron-tmanager', 'heron-metricscache']);
  });
  await scheduler.kill(target);
  assert.deepEqual(findTopologyProcesses(processes, request.topologyId), []);
  assert.deepEqual(await stateManager.list('topologies'), []);
  assert.ok(!existsSync(archive));
});
