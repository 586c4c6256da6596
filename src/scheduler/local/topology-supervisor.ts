import type { Clock } from '../../base/clock.ts';
import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type ContainerId, containerId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { removeIfThere } from '../../base/optional-files.ts';
import type { Random } from '../../base/random.ts';
import { retry } from '../../base/retry.ts';
import { parseCompletion } from '../../model/completion.ts';
import { Settings } from '../../model/settings.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager, Watch } from '../../state-manager/state-manager.ts';
import { removePidFile, writePidFile } from '../../supervision/pid-file.ts';
import { ReportPublisher } from '../../supervision/report-publisher.ts';
import type { Command, ProcessTable } from '../../supervision/process-table.ts';
import { SchedulerLocation } from '../../wire/messages.ts';
import { decodePackingPlan } from '../../wire/packing-plan.ts';
import { decodeTopology } from '../../wire/topology.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import type { KillOptions } from '../scheduler.ts';
import { DrainDeadline } from './drain-deadline.ts';
import { ExecutorSupervisor } from './executor-supervisor.ts';
import { readKillRequest } from './launch-record.ts';
import type { SchedulerArguments } from './scheduler-arguments.ts';
import { teardown } from './teardown.ts';
import { SCHEDULER, type WorkingFolder, workingFolderAt } from './working-folder.ts';
import { writeJson } from './write-json.ts';

/*
  The scheduler process of one topology: keeps an executor per container alive until the topology is
  killed or completed, then takes everything down.

  L1. At most one lives per topology: each begins by making the ephemeral scheduler node, which
      another one's life makes impossible.
  L2. Told to stop without a kill request, by a machine that shuts down say, it ends the processes
      and leaves the topology where it is, for the next command to start again.
*/

export interface TopologySupervisorOptions {
  readonly arguments: SchedulerArguments;
  readonly stateManager: StateManager;
  readonly archives: Pick<Uploader, 'remove'>;
  /** Makes a container's folder ready; once it has, it changes nothing. */
  readonly setUp: (container: ContainerId) => Promise<void>;
  readonly commandOf: (container: ContainerId, token: string) => Command;
  readonly files: Files;
  readonly processes: ProcessTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * The topology has completed, had its time to drain, or is to be killed: whoever runs this
   * supervisor should end it.
   */
  readonly onEnding: () => void;
}

/** Heron's word for a scheduler without a port of its own. */
const NO_ENDPOINT = 'scheduler_as_lib_no_endpoint';

/** How long the state manager may be away before the scheduler gives up its start. */
const STATE_LIMIT_MS = 120_000;

/** Less than schedulerLimitMs leaves for removing nodes and files. */
const TEARDOWN_RETRY_MS = 10_000;

export class TopologySupervisor {
  readonly #options: TopologySupervisorOptions;
  readonly #folder: WorkingFolder;
  #settings = new Settings();
  #executors: ExecutorSupervisor | undefined;
  #reports: ReportPublisher | undefined;
  #watch: Watch | undefined;
  #drain: DrainDeadline | undefined;
  /** Only the owner of the scheduler node may touch anything (L1). */
  #isOwner = false;
  #isStopping = false;
  #isCompleted = false;

  constructor(options: TopologySupervisorOptions) {
    this.#options = options;
    this.#folder = workingFolderAt(options.arguments.workingRoot);
  }

  /** Reads the topology's settings; called first. */
  async readSettings(): Promise<Settings> {
    const { topologyName, topologyId } = this.#options.arguments;
    const topology = decodeTopology(await this.#readNode(paths.topology(topologyName)));
    if (topology.id !== topologyId) {
      const message = `the state tree has ${topology.id} under this name, not ${topologyId}`;
      throw environmentError('WRONG_TOPOLOGY', message);
    }
    this.#settings = new Settings(topology.config);
    return this.#settings;
  }

  /** @throws EngineError DUPLICATE_PEER when another scheduler of this topology lives. */
  async start(): Promise<void> {
    const { topologyName } = this.#options.arguments;
    await this.#takeOver();
    this.#watch = this.#options.stateManager.watch(paths.completed(topologyName), (bytes) =>
      this.#onCompletion(bytes),
    );
    this.#drain = new DrainDeadline({
      ...this.#options,
      ...this.#options.arguments,
      onPassed: this.#options.onEnding,
    });
    if ((await readKillRequest(this.#options.files, this.#folder)) !== undefined)
      return this.#options.onEnding();
    await this.#startExecutors();
  }

  /**
   * Ends the executors; takes the topology down when it was killed, drained or has completed (L2).
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#watch?.close();
    this.#drain?.close();
    if (!this.#isOwner) return;
    await this.#executors?.stop();
    await this.#reports?.close();
    const ending = await this.#ending();
    if (ending === undefined) removePidFile(this.#options.files, this.#folder.root, SCHEDULER);
    else await this.#tearDown(ending);
  }

  async #takeOver(): Promise<void> {
    const { stateManager, files, processes } = this.#options;
    const { topologyName, workingRoot } = this.#options.arguments;
    const location = SchedulerLocation.create({ topologyName, httpEndpoint: NO_ENDPOINT });
    try {
      await stateManager.create(paths.scheduler(topologyName), SchedulerLocation.encode(location), {
        ephemeral: true,
      });
    } catch (error) {
      if (!hasCode(error, 'STATE_EXISTS')) throw error;
      const message = `another scheduler of ${topologyName} is alive`;
      throw environmentError('DUPLICATE_PEER', message, { cause: error });
    }
    this.#isOwner = true;
    await removeIfThere(files, this.#folder.executorsFile); // The dead scheduler's.
    writePidFile(files, workingRoot, { name: SCHEDULER, identity: processes.own() });
  }

  async #startExecutors(): Promise<void> {
    const { arguments: args, setUp, commandOf, clock, logger } = this.#options;
    const plan = decodePackingPlan(await this.#readNode(paths.packingPlan(args.topologyName)));
    const token = new TextDecoder().decode(await this.#readNode(paths.token(args.topologyName)));
    const containers = [containerId(0), ...plan.containers.map(({ id }) => id)];
    await Promise.all(containers.map(setUp));
    if (this.#isStopping) return;
    const executors = new ExecutorSupervisor({
      ...this.#options,
      folder: this.#folder,
      settings: this.#settings,
      commandOf: (container) => commandOf(container, token),
      onChange: () => this.#reports?.changed(),
    });
    this.#executors = executors;
    for (const container of containers) executors.add(container);
    this.#reports = new ReportPublisher({
      write: () => writeJson(this.#options, this.#folder.executorsFile, executors.reports),
      clock,
      logger,
    });
    this.#reports.changed();
  }

  #onCompletion(bytes: Uint8Array | undefined): void {
    const { arguments: args, logger, onEnding } = this.#options;
    if (bytes === undefined) return;
    try {
      // The record of an earlier topology of this name may still be there.
      if (parseCompletion(bytes).topologyId !== args.topologyId) return;
    } catch (error) {
      logger.error('the record of completion cannot be read', { reason: messageOf(error) });
      return;
    }
    this.#isCompleted = true;
    logger.info('the topology has completed');
    onEnding();
  }

  async #ending(): Promise<KillOptions | undefined> {
    const killRequest = await readKillRequest(this.#options.files, this.#folder);
    const isOver = this.#isCompleted || this.#drain?.isPassed === true;
    return killRequest ?? (isOver ? { keepLogs: true } : undefined);
  }

  /** Tries again where the state manager is away: nobody else would, once its folder is gone. */
  async #tearDown({ keepLogs = false }: KillOptions): Promise<void> {
    const { arguments: args } = this.#options;
    const attempt = (): Promise<void> =>
      teardown({
        ...this.#options,
        folder: this.#folder,
        dataRoot: args.dataRoot,
        topologyName: args.topologyName,
        topologyIds: [args.topologyId],
        archive: args.archive,
        keepLogs,
        graceMs: this.#settings.get('heron.shutdown.grace.ms'),
      });
    const what = 'take the topology down';
    await retry(attempt, { ...this.#options, what, limitMs: TEARDOWN_RETRY_MS });
  }

  async #readNode(path: string): Promise<Uint8Array> {
    const { stateManager } = this.#options;
    const bytes = await retry(() => stateManager.read(path), {
      ...this.#options,
      what: `read ${path}`,
      limitMs: STATE_LIMIT_MS,
    });
    if (bytes === undefined) throw environmentError('TOPOLOGY_NOT_FOUND', `${path} is not there`);
    return bytes;
  }
}
