import { join } from 'node:path';
import { type Clock, delay } from '../../base/clock.ts';
import { environmentError, hasCode, userError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import type { ContainerId, TopologyId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { parseCompletion } from '../../model/completion.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { Settings } from '../../model/settings.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateAddress } from '../../state-manager/state-address.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { endProcesses, waitUntilGone } from '../../supervision/end-processes.ts';
import { readPidFile } from '../../supervision/pid-file.ts';
import { executorLimitMs, schedulerLimitMs } from '../../supervision/shutdown-limits.ts';
import { findTopologyProcesses } from '../../supervision/topology-processes.ts';
import { decodeTopology } from '../../wire/topology.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import type {
  KillOptions,
  LaunchRequest,
  RepairOutcome,
  Scheduler,
  SchedulerDescription,
  SchedulerTarget,
} from '../scheduler.ts';
import {
  type LaunchRecord,
  readKillRequest,
  readLaunchRecord,
  writeKillRequest,
  writeLaunchRecord,
} from './launch-record.ts';
import { removeExpired } from './retention.ts';
import {
  executorRecords,
  liveProcess,
  liveScheduler,
  readExecutors,
  schedulerFailed,
  type SchedulerParent,
  startSchedulerProcess,
} from './scheduler-process.ts';
import { clearRemains, teardown } from './teardown.ts';
import {
  executorName,
  SCHEDULER,
  uploadsFolder,
  type WorkingFolder,
  workingFolderOf,
} from './working-folder.ts';

export interface LocalSchedulerOptions extends SchedulerParent {
  readonly dataRoot: string;
  readonly state: StateAddress;
  /** The addresses that containers get in turn. */
  readonly hosts: readonly string[];
  readonly stateManager: StateManager;
  readonly archivesOf: (target: SchedulerTarget) => Pick<Uploader, 'remove'>;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The arguments of Node before the scheduler's flags; the real entry unless set. */
  readonly schedulerCommand?: readonly string[];
}

const HOUR_MS = 3_600_000;
/** Between two looks at files that another process writes. */
const POLL_PERIOD_MS = 20;
/** For making the containers' folders and starting their executors, on a busy machine. */
const START_LIMIT_MS = 60_000;
/** For a scheduler that has taken everything down and only has to end itself. */
const END_LIMIT_MS = 10_000;

/**
 * Runs topologies as processes of this machine: a detached scheduler process per topology,
 * controlled by files in the topology's folder and by signals. Commands tell by its identity
 * whether the scheduler lives, and do its work when it does not.
 */
export class LocalScheduler implements Scheduler {
  readonly #options: LocalSchedulerOptions;

  constructor(options: LocalSchedulerOptions) {
    this.#options = options;
  }

  async launch(request: LaunchRequest): Promise<void> {
    const { dataRoot, state, hosts } = this.#options;
    const folder = workingFolderOf(dataRoot, request);
    const record: LaunchRecord = { ...request, dataRoot, state, hosts };
    const earlier = await unlessCorrupted(() => readLaunchRecord(this.#options.files, folder));
    if (earlier?.topologyId !== request.topologyId) await this.#clearFolder(folder, earlier);
    await writeLaunchRecord(this.#options, folder, record);
    await this.#startScheduler(folder, record);
    await this.#removeExpired(request);
  }

  async kill(target: SchedulerTarget, options: KillOptions = {}): Promise<void> {
    const folder = workingFolderOf(this.#options.dataRoot, target);
    const record = await unlessCorrupted(() => readLaunchRecord(this.#options.files, folder));
    const topology = await unlessCorrupted(() => this.#readTopology(target));
    if (record !== undefined) await writeKillRequest(this.#options, folder, options);
    await this.#endScheduler(folder, graceOf(topology));
    // Also after a scheduler that did it all: this is how we know that nothing is left (D2).
    await this.#tearDown(folder, { target, record, topology, keepLogs: options.keepLogs ?? false });
  }

  async repair(target: SchedulerTarget): Promise<RepairOutcome> {
    const folder = workingFolderOf(this.#options.dataRoot, target);
    const { files } = this.#options;
    const record = await readLaunchRecord(files, folder);
    const killRequest = record === undefined ? undefined : await readKillRequest(files, folder);
    if (killRequest !== undefined) {
      // Whoever asked may have died before the scheduler, if it still lives, heard of it.
      await this.kill(target, killRequest);
      return 'ended';
    }
    if (liveScheduler(this.#options, folder) !== undefined) return 'alive';
    const topology = await this.#readTopology(target);
    // The record goes before the nodes: without it the topology may still be half taken down.
    const topologyId = record?.topologyId ?? topology?.id;
    if (topologyId === undefined) return 'absent';
    if (await this.#hasCompleted({ topologyName: target.topologyName, topologyId })) {
      await this.#tearDown(folder, { target, record, topology, keepLogs: true });
      return 'ended';
    }
    if (record === undefined) return 'absent';
    const plan = await this.#options.stateManager.read(paths.packingPlan(target.topologyName));
    if (topology?.id !== record.topologyId || plan === undefined) return 'absent';
    await this.#startScheduler(folder, record);
    return 'restarted';
  }

  async restart(target: SchedulerTarget, container?: ContainerId): Promise<void> {
    const outcome = await this.repair(target);
    if (outcome === 'absent' || outcome === 'ended') {
      throw userError('TOPOLOGY_NOT_FOUND', `${target.topologyName} does not run`);
    }
    const { files, dataRoot } = this.#options;
    const { root } = workingFolderOf(dataRoot, target);
    const chosen = executorRecords(files, root).filter(
      ({ name }) => container === undefined || name === executorName(container),
    );
    if (chosen.length === 0) {
      const what = container === undefined ? 'no executors' : `no container ${container}`;
      throw userError('TOPOLOGY_NOT_FOUND', `${target.topologyName} has ${what}`);
    }
    const graceMs = executorLimitMs(graceOf(await this.#readTopology(target)));
    await endProcesses(
      chosen.map(({ identity }) => identity),
      { ...this.#options, graceMs },
    );
    await this.#waitFor(
      () => chosen.every(({ name }) => liveProcess(this.#options, root, name) !== undefined),
      () => `no other executor came up for ${chosen.map(({ name }) => name).join(', ')}`,
    );
  }

  async describe(target: SchedulerTarget): Promise<SchedulerDescription> {
    const folder = workingFolderOf(this.#options.dataRoot, target);
    return {
      schedulerPid: liveScheduler(this.#options, folder)?.pid,
      executors: await readExecutors(this.#options.files, folder),
    };
  }

  async awaitEnd(topology: TopologyId): Promise<void> {
    const { processes, clock } = this.#options;
    const found = findTopologyProcesses(processes, topology);
    const left = await waitUntilGone(found, { processes, clock, limitMs: END_LIMIT_MS });
    if (left.length === 0) return;
    const pids = left.map(({ pid }) => pid).join(', ');
    throw environmentError('PROCESS_LOST', `${topology} is gone, but processes are left: ${pids}`);
  }

  /** Another scheduler may win the race to be started: what counts is that one lives. */
  async #startScheduler(folder: WorkingFolder, record: LaunchRecord): Promise<void> {
    if (liveScheduler(this.#options, folder) !== undefined) return;
    const { schedulerCommand } = this.#options;
    const handle = startSchedulerProcess(folder, record, this.#options, schedulerCommand);
    let failure: Error | undefined;
    void handle.ended.then((ending) => {
      failure = schedulerFailed(ending);
      return undefined;
    });
    await this.#waitFor(
      async () => {
        const hasScheduler = liveScheduler(this.#options, folder) !== undefined;
        if (failure === undefined)
          return hasScheduler && (await readExecutors(this.#options.files, folder)).length > 0;
        if (hasScheduler) return true;
        throw failure;
      },
      () => `the scheduler of ${record.topologyName} (pid ${handle.pid}) does not come up`,
    );
  }

  async #removeExpired(target: SchedulerTarget): Promise<void> {
    const settings = settingsOf(await this.#readTopology(target));
    const retentionMs = settings.get('heron.completed.retention.hours') * HOUR_MS;
    await removeExpired({ ...this.#options, retentionMs });
  }

  /** What a topology of the same name left behind, whose nodes are gone already. */
  async #clearFolder(folder: WorkingFolder, earlier: LaunchRecord | undefined): Promise<void> {
    const graceMs = graceOf(undefined);
    await this.#endScheduler(folder, graceMs);
    const topologyIds = earlier === undefined ? [] : [earlier.topologyId];
    await clearRemains({ ...this.#options, folder, topologyIds, graceMs });
  }

  async #endScheduler({ root }: WorkingFolder, graceMs: number): Promise<void> {
    const scheduler = readPidFile(this.#options.files, root, SCHEDULER);
    if (scheduler === undefined) return;
    await endProcesses([scheduler], { ...this.#options, graceMs: schedulerLimitMs(graceMs) });
  }

  async #tearDown(
    folder: WorkingFolder,
    what: {
      readonly target: SchedulerTarget;
      readonly record: LaunchRecord | undefined;
      readonly topology: LogicalTopology | undefined;
      readonly keepLogs: boolean;
    },
  ): Promise<void> {
    const { record, topology } = what;
    const ids = new Set([record?.topologyId, topology?.id]);
    await teardown({
      ...this.#options,
      folder,
      topologyName: what.target.topologyName,
      topologyIds: [...ids].filter((id): id is TopologyId => id !== undefined),
      archive: record?.archive ?? this.#likelyArchive(what.target, topology),
      archives: this.#options.archivesOf(what.target),
      keepLogs: what.keepLogs,
      graceMs: graceOf(topology),
    });
  }

  /** Of a topology that was uploaded but never launched; removing what is not there is no error. */
  #likelyArchive(
    target: SchedulerTarget,
    topology: LogicalTopology | undefined,
  ): string | undefined {
    if (topology === undefined) return undefined;
    return join(uploadsFolder(this.#options.dataRoot, target), `${topology.id}.tar.gz`);
  }

  async #readTopology({ topologyName }: SchedulerTarget): Promise<LogicalTopology | undefined> {
    const bytes = await this.#options.stateManager.read(paths.topology(topologyName));
    return bytes === undefined ? undefined : decodeTopology(bytes);
  }

  async #hasCompleted({
    topologyName,
    topologyId,
  }: Pick<LaunchRecord, 'topologyName' | 'topologyId'>): Promise<boolean> {
    const bytes = await this.#options.stateManager.read(paths.completed(topologyName));
    return bytes !== undefined && parseCompletion(bytes).topologyId === topologyId;
  }

  async #waitFor(
    condition: () => boolean | Promise<boolean>,
    failure: () => string,
  ): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.now() + START_LIMIT_MS;
    while (!(await condition())) {
      if (clock.now() >= deadlineMs) throw environmentError('START_TIMEOUT', failure());
      await delay(clock, POLL_PERIOD_MS);
    }
  }
}

function settingsOf(topology: LogicalTopology | undefined): Settings {
  return topology === undefined ? new Settings() : new Settings(topology.config);
}

function graceOf(topology: LogicalTopology | undefined): number {
  return settingsOf(topology).get('heron.shutdown.grace.ms');
}

/** What is damaged tells nothing, but must not keep anyone from removing it. */
async function unlessCorrupted<Value>(
  read: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasCode(error, 'STATE_CORRUPTED')) return undefined;
    throw error;
  }
}
