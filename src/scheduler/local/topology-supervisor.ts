import type { Clock } from '../../base/clock.ts';
import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type ContainerId, containerId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { removeIfThere } from '../../base/optional-files.ts';
import type { Random } from '../../base/random.ts';
import { retry } from '../../base/retry.ts';
import { parseCompletion } from '../../model/completion.ts';
import { isOlderPackingPlan, type PackingPlan } from '../../model/packing-plan.ts';
import { Settings } from '../../model/settings.ts';
import { NodeHolder } from '../../state-manager/node-holder.ts';
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
import { readKillRequest } from './launch-record.ts';
import type { SchedulerArguments } from './scheduler-arguments.ts';
import { teardown } from './teardown.ts';
import { STATE_LIMIT_MS, TopologyContainers } from './topology-containers.ts';
import { SCHEDULER, type WorkingFolder, workingFolderAt } from './working-folder.ts';
import { writeJson } from './write-json.ts';

/*
  The scheduler process of one topology: keeps an executor per container alive until the topology is
  killed or completed, then takes everything down.

  L1. At most one lives per topology: each begins by making the ephemeral scheduler node, which
      another one's life makes impossible. A node that vanishes it makes again.
  L2. Told to stop without a kill request, by a machine that shuts down say, it ends the processes
      and leaves the topology where it is, for the next command to start again.
  L3. It follows the packing plan for as long as it lives: containers come and go with it. A plan
      that is gone, damaged or old takes nothing down.
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

/** Less than schedulerLimitMs leaves for removing nodes and files. */
const TEARDOWN_RETRY_MS = 10_000;

export class TopologySupervisor {
  readonly #options: TopologySupervisorOptions;
  readonly #folder: WorkingFolder;
  #settings = new Settings();
  #containers: TopologyContainers | undefined;
  #plan: PackingPlan | undefined;
  #reports: ReportPublisher | undefined;
  #watches: readonly Watch[] = [];
  #drain: DrainDeadline | undefined;
  #holder: NodeHolder | undefined;
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
    const { stateManager } = this.#options;
    const completed = paths.completed(topologyName);
    this.#watches = [stateManager.watch(completed, (bytes) => this.#onCompletion(bytes))];
    this.#drain = new DrainDeadline({
      ...this.#options,
      ...this.#options.arguments,
      onPassed: this.#options.onEnding,
    });
    if ((await readKillRequest(this.#options.files, this.#folder)) !== undefined)
      return this.#options.onEnding();
    await this.#startContainers();
  }

  /**
   * Ends the executors; takes the topology down when it was killed, drained or has completed (L2).
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const watch of this.#watches) watch.close();
    this.#drain?.close();
    this.#holder?.close();
    if (!this.#isOwner) return;
    await this.#containers?.stop();
    await this.#reports?.close();
    const ending = await this.#ending();
    if (ending === undefined) removePidFile(this.#options.files, this.#folder.root, SCHEDULER);
    else await this.#tearDown(ending);
  }

  async #takeOver(): Promise<void> {
    const { stateManager, files, processes } = this.#options;
    const { topologyName, workingRoot } = this.#options.arguments;
    const path = paths.scheduler(topologyName);
    const location = SchedulerLocation.create({ topologyName, httpEndpoint: NO_ENDPOINT });
    const bytes = SchedulerLocation.encode(location);
    const create = (): Promise<void> => stateManager.create(path, bytes, { ephemeral: true });
    try {
      await retry(create, { ...this.#options, what: `make ${path}`, limitMs: STATE_LIMIT_MS });
    } catch (error) {
      if (!hasCode(error, 'STATE_EXISTS')) throw error;
      const message = `another scheduler of ${topologyName} is alive`;
      throw environmentError('DUPLICATE_PEER', message, { cause: error });
    }
    this.#isOwner = true;
    await removeIfThere(files, this.#folder.executorsFile); // The dead scheduler's.
    writePidFile(files, workingRoot, { name: SCHEDULER, identity: processes.own() });
    const onOther = (): void => this.#giveWay();
    this.#holder = new NodeHolder({ ...this.#options, path, bytes, what: path, onOther });
    this.#holder.open();
  }

  /** L1: the node was lost, with a session say, and another scheduler has it now. */
  #giveWay(): void {
    if (!this.#isOwner || this.#isStopping) return;
    this.#options.logger.error('another scheduler has taken over; this one leaves it everything');
    this.#isOwner = false;
    this.#options.onEnding();
  }

  async #startContainers(): Promise<void> {
    const { arguments: args, commandOf, stateManager, clock, logger } = this.#options;
    const planPath = paths.packingPlan(args.topologyName);
    this.#takePlan(await this.#readNode(planPath));
    const token = new TextDecoder().decode(await this.#readNode(paths.token(args.topologyName)));
    if (this.#isStopping) return;
    const containers = new TopologyContainers({
      ...this.#options,
      ...args,
      folder: this.#folder,
      settings: this.#settings,
      commandOf: (container) => commandOf(container, token),
      onChange: () => this.#reports?.changed(),
    });
    this.#containers = containers;
    await containers.start(this.#wanted());
    if (this.#isStopping) return;
    this.#reports = new ReportPublisher({
      write: () => writeJson(this.#options, this.#folder.executorsFile, containers.reports),
      clock,
      logger,
    });
    this.#reports.changed();
    this.#watches = [
      ...this.#watches,
      stateManager.watch(planPath, (bytes) => this.#onPlan(bytes)),
    ];
  }

  #onPlan(bytes: Uint8Array | undefined): void {
    if (bytes === undefined || this.#isStopping || !this.#takePlan(bytes)) return;
    const wanted = this.#wanted();
    if (wanted !== undefined) this.#containers?.converge(wanted);
  }

  /** False for one that changes nothing (L3). */
  #takePlan(bytes: Uint8Array): boolean {
    const { logger } = this.#options;
    let plan: PackingPlan;
    try {
      plan = decodePackingPlan(bytes);
    } catch (error) {
      const reason = messageOf(error);
      logger.error('the packing plan cannot be read; waiting for another one', { reason });
      return false;
    }
    if (isOlderPackingPlan(plan, this.#plan)) {
      const facts = { epoch: plan.epoch, knownEpoch: this.#plan?.epoch };
      logger.warn('an old packing plan is passed over', facts);
      return false;
    }
    this.#plan = plan;
    return true;
  }

  #wanted(): readonly ContainerId[] | undefined {
    return this.#plan && [containerId(0), ...this.#plan.containers.map(({ id }) => id)];
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
