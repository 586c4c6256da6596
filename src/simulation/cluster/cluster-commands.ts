import { join } from 'node:path';
import { type Clock, delay } from '../../base/clock.ts';
import { environmentError } from '../../base/errors.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { randomHex } from '../../base/random.ts';
import { ENGINE_VERSION } from '../../base/version.ts';
import type { SchedulerTarget } from '../../scheduler/scheduler.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { encodeExecutionState } from '../../wire/execution-state.ts';
import { TopologyMasterLocation } from '../../wire/messages.ts';
import { encodePackingPlan } from '../../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import { TOKEN_HEADER } from '../../wire/token-header.ts';
import { encodeTopology } from '../../wire/topology.ts';
import { simulatedRequest } from '../kernel/simulated-http.ts';
import { type CommandTools, DATA_ROOT } from './command-process.ts';
import type { SubmittedTopology } from './submitted-topology.ts';

/* What the commands do, with the steps and in the order of the real command line. */

export const CLUSTER = 'local';
export const ROLE = 'tester';
export const ENVIRON = 'default';

const TOKEN_BYTES = 16;
const MS_PER_SECOND = 1000;
/** As long as the real commands wait for a plan and for a master that died. */
const MASTER_LIMIT_MS = 30_000;
const LOOK_MS = 50;

export function targetOf(topologyName: TopologyName): SchedulerTarget {
  return { topologyName, cluster: CLUSTER, role: ROLE };
}

/** Stores the records of a topology, all but the archive. Resolves with its token. */
export async function storeRecords(
  { topology, packingPlan }: SubmittedTopology,
  { environment, stateManager }: Pick<CommandTools, 'environment' | 'stateManager'>,
): Promise<string> {
  const { name } = topology;
  const token = randomHex(environment.random, TOKEN_BYTES);
  await stateManager.write(paths.token(name), Buffer.from(token));
  await stateManager.write(paths.topology(name), encodeTopology(topology));
  await stateManager.write(paths.packingPlan(name), encodePackingPlan(packingPlan));
  const execution = encodeExecutionState({
    cluster: CLUSTER,
    role: ROLE,
    environ: ENVIRON,
    topologyName: name,
    topologyId: topology.id,
    submittedAtSeconds: Math.floor(environment.clock.wallNow() / MS_PER_SECOND),
    submittedBy: ROLE,
    engineVersion: ENGINE_VERSION,
  });
  await stateManager.write(paths.executionState(name), execution);
  return token;
}

/** Resolves when the scheduler has taken the topology over. */
export async function submit(submitted: SubmittedTopology, tools: CommandTools): Promise<void> {
  const { topology } = submitted;
  const { files } = tools.environment;
  const target = targetOf(topology.name);
  const work = join(DATA_ROOT, 'work');
  const made = join(work, `${topology.name}.tar.gz`);
  await makeFolder(files, work);
  await files.write(made, encodeTopology(topology));
  const archive = await tools.archives(target).upload(topology.id, made);
  await files.removeTree(work);
  await storeRecords(submitted, tools);
  await tools.scheduler.launch({ ...target, topologyId: topology.id, environ: ENVIRON, archive });
}

export async function kill(name: TopologyName, tools: CommandTools): Promise<void> {
  const target = targetOf(name);
  await tools.scheduler.kill(target);
  await tools.archives(target).clear();
}

/** What a command to the topology master is about. */
export interface MasterCommand {
  /** With what the command needs besides the topology: `/activate`. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly name: TopologyName;
  readonly id: TopologyId;
}

export interface StateChange {
  readonly command: 'activate' | 'deactivate';
  readonly name: TopologyName;
  readonly id: TopologyId;
}

/**
 * Resolves when the stored plan says so.
 *
 * @throws EngineError START_TIMEOUT or TOPOLOGY_NOT_READY
 */
export async function changeState(
  { command, name, id }: StateChange,
  { environment, stateManager }: CommandTools,
): Promise<void> {
  const { clock } = environment;
  const wanted = command === 'activate' ? 'RUNNING' : 'PAUSED';
  const deadlineMs = clock.now() + MASTER_LIMIT_MS;
  const plan = await awaitNode(paths.physicalPlan(name), { stateManager, clock, deadlineMs });
  if (decodePhysicalPlan(plan).topology.state === wanted) return;
  await commandMaster({ path: `/${command}`, name, id }, { environment, stateManager });
}

/**
 * Resolves when the topology master has done it.
 *
 * @throws EngineError START_TIMEOUT or TOPOLOGY_NOT_READY
 */
export async function commandMaster(
  { path, parameters = {}, name, id }: MasterCommand,
  { environment, stateManager }: Pick<CommandTools, 'environment' | 'stateManager'>,
): Promise<void> {
  const { clock } = environment;
  const deadlineMs = clock.now() + MASTER_LIMIT_MS;
  // Before its first plan a master has nothing to change.
  await awaitNode(paths.physicalPlan(name), { stateManager, clock, deadlineMs });
  const node = await awaitNode(paths.topologyMaster(name), { stateManager, clock, deadlineMs });
  const { host, controllerPort } = TopologyMasterLocation.decode(node);
  const token = Buffer.from((await stateManager.read(paths.token(name))) ?? []).toString();
  const query = new URLSearchParams({ topologyid: id, ...parameters });
  const answer = await simulatedRequest(
    environment.network,
    { host, port: controllerPort },
    { method: 'GET', path: `${path}?${query.toString()}`, headers: { [TOKEN_HEADER]: token } },
  );
  if (answer.status === 200) return;
  const refusal = `the topology master refused ${path}: ${String(answer.body)}`;
  throw environmentError('TOPOLOGY_NOT_READY', refusal, { retryable: true });
}

async function awaitNode(
  path: string,
  options: {
    readonly stateManager: StateManager;
    readonly clock: Clock;
    readonly deadlineMs: number;
  },
): Promise<Uint8Array> {
  const { stateManager, clock, deadlineMs } = options;
  for (;;) {
    const bytes = await stateManager.read(path);
    if (bytes !== undefined) return bytes;
    if (clock.now() > deadlineMs) {
      throw environmentError('START_TIMEOUT', `${path} has not come up`);
    }
    await delay(clock, LOOK_MS);
  }
}
