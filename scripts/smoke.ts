import { join } from 'node:path';
import { systemClock, delay } from '../src/base/clock.ts';
import { createSystemRandom, randomHex } from '../src/base/random.ts';
import { silentLogger } from '../src/base/logger.ts';
import { createStateManager } from '../src/state-manager/create.ts';
import { createScheduler } from '../src/scheduler/create.ts';
import { createUploader } from '../src/uploader/create.ts';
import { uploadsFolder } from '../src/scheduler/local/working-folder.ts';
import { packageTopology } from '../src/package/package-topology.ts';
import { packRoundRobin } from '../src/packing/round-robin.ts';
import { encodePackingPlan } from '../src/wire/packing-plan.ts';
import { encodeTopology } from '../src/wire/topology.ts';
import { encodeExecutionState } from '../src/wire/execution-state.ts';
import { paths } from '../src/state-manager/paths.ts';

const [dataRoot = '', file = '', name = '', ...args] = process.argv.slice(2);
const clock = systemClock,
  random = createSystemRandom(),
  logger = silentLogger;
const t0 = performance.now();
const lap = (s: string) => console.log((performance.now() - t0).toFixed(0).padStart(6), s);
const stateRoot = join(dataRoot, 'repository/state/local');
const stateManager = createStateManager({ kind: 'file', root: stateRoot, clock, random, logger });
const scheduler = createScheduler({
  kind: 'local',
  dataRoot,
  stateRoot,
  stateManager,
  clock,
  random,
  logger,
});
const config = new Map<string, string>(
  process.env['CFG']
    ? process.env['CFG'].split(',').map((kv) => kv.split('=') as [string, string])
    : [],
);
const { topology, archivePath } = await packageTopology(
  { file, name, args, config, archiveFolder: join(dataRoot, 'tmp') },
  { clock, random },
);
lap('packaged');
const target = { topologyName: topology.name, cluster: 'local', role: 'me' };
const archive = await createUploader({
  kind: 'file',
  folder: uploadsFolder(dataRoot, target),
  random,
}).upload(topology.id, archivePath);
const { plan } = packRoundRobin(topology) as never as { plan: never };
await stateManager.write(paths.token(topology.name), Buffer.from(randomHex(random, 16)));
await stateManager.write(paths.topology(topology.name), encodeTopology(topology));
await stateManager.write(paths.packingPlan(topology.name), encodePackingPlan(plan));
await stateManager.write(
  paths.executionState(topology.name),
  encodeExecutionState({
    topologyName: topology.name,
    topologyId: topology.id,
    submittedAtSeconds: 0,
    submittedBy: 'me',
    cluster: 'local',
    role: 'me',
    environ: 'dev',
    engineVersion: '0',
  }),
);
await scheduler.launch({ ...target, topologyId: topology.id, environ: 'dev', archive });
lap('launched');
let done = false;
stateManager.watch(paths.physicalPlan(topology.name), (v) => v && lap('physical plan'));
stateManager.watch(paths.completed(topology.name), (v) => {
  if (v) {
    lap(Buffer.from(v).toString());
    done = true;
  }
});
const limit = performance.now() + Number(process.env['LIMIT'] ?? 60) * 1000;
while (!done && performance.now() < limit) await delay(clock, 50);
if (!done) {
  lap('TIMEOUT; killing');
  if (!process.env['KEEP']) await scheduler.kill(target, { keepLogs: true });
} else while (await stateManager.read(paths.topology(topology.name))) await delay(clock, 50);
lap('gone');
await stateManager.close();
