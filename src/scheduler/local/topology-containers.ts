import { Backoff } from '../../base/backoff.ts';
import type { Timer } from '../../base/clock.ts';
import { environmentError, messageOf } from '../../base/errors.ts';
import { retry } from '../../base/retry.ts';
import {
  type ContainerId,
  containerId,
  type TopologyId,
  type TopologyName,
} from '../../base/ids.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { killProcesses } from '../../supervision/end-processes.ts';
import { listPidFiles } from '../../supervision/pid-file.ts';
import { ExecutorSupervisor, type ExecutorSupervisorOptions } from './executor-supervisor.ts';
import { bringBack, keepContainer } from './kept-logs.ts';
import { containersIn } from './log-folders.ts';
import { executorRecords } from './scheduler-process.ts';
import { containerFolder, containerOf, executorName, keptLogsOf } from './working-folder.ts';

/*
  The containers of a topology on this machine: brings about that those which are wanted have a
  folder and an executor, and that nothing is left of the others.

    absent ── set up ──► ready ── executor ──► supervised
       ▲                                           │
       └──── clear: executor, processes left, logs kept, folder, nodes ◄──┘

  N1. What is there is found in files and nodes, so a scheduler that takes over in the middle of a
      change goes on with it. Every step may find its work done, half done or not begun.
  N2. One thing at a time happens to a container; in the end it is what was wanted last.
  N3. A step that fails is tried again, with pauses, and concerns no other container. Only a start
      from nothing fails with it: whoever launches a topology wants to hear that it cannot run.
*/

export interface TopologyContainersOptions extends ExecutorSupervisorOptions {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly dataRoot: string;
  readonly stateManager: StateManager;
  /** Makes a container's folder ready; once it has, it changes nothing. */
  readonly setUp: (container: ContainerId) => Promise<void>;
}

interface Entry {
  isWanted: boolean;
  /** Something of it is there, but nobody supervises it. */
  state: 'there' | 'supervised';
  isBusy: boolean;
  retry: Timer | undefined;
  problem: ProcessReport | undefined;
  readonly pauses: Backoff;
}

/** How long the state manager may be away before the scheduler gives up its start. */
export const STATE_LIMIT_MS = 120_000;

const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

export class TopologyContainers {
  readonly #options: TopologyContainersOptions;
  readonly #executors: ExecutorSupervisor;
  readonly #entries = new Map<ContainerId, Entry>();
  readonly #underWay = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(options: TopologyContainersOptions) {
    this.#options = options;
    this.#executors = new ExecutorSupervisor(options);
  }

  /** Of the executors, and of what takes the place of one that cannot be there yet. */
  get reports(): readonly ProcessReport[] {
    const problems = [...this.#entries.values()].flatMap(({ problem }) => problem ?? []);
    return [...this.#executors.reports, ...problems];
  }

  /**
   * Finds what is there, adopts what lives, and begins with the rest.
   *
   * @param wanted Undefined: not known yet. What is there stays, until it is known.
   * @throws what setting a container up throws, when nothing of the topology lives yet (N3).
   */
  async start(wanted: readonly ContainerId[] | undefined): Promise<void> {
    const present = await this.#present();
    for (const id of present) this.#entry(id);
    const first = wanted ?? [...new Set([containerId(0), ...present])];
    if (!present.some((id) => this.#executors.isAlive(id))) {
      await this.#during(Promise.all(first.map((id) => this.#setUp(id))));
    }
    if (!this.#isStopped) this.converge(first);
  }

  converge(wanted: readonly ContainerId[]): void {
    for (const id of wanted) this.#entry(id);
    for (const [id, entry] of this.#entries) {
      const isWanted = wanted.includes(id);
      if (entry.isWanted !== isWanted) {
        entry.retry?.cancel();
        entry.retry = undefined;
        entry.pauses.reset();
      }
      entry.isWanted = isWanted;
      this.#advance(id, entry);
    }
  }

  /** Resolves when no executor is left; folders and nodes stay. Nothing happens afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const entry of this.#entries.values()) entry.retry?.cancel();
    await this.#executors.stop();
    // Whoever removes the folders afterwards would otherwise find them made again.
    await Promise.allSettled(this.#underWay);
  }

  async #during<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  #entry(id: ContainerId): Entry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const entry: Entry = {
      isWanted: true,
      state: 'there',
      isBusy: false,
      retry: undefined,
      problem: undefined,
      pauses: new Backoff(this.#options.random, PAUSE_MIN_MS, PAUSE_MAX_MS),
    };
    this.#entries.set(id, entry);
    return entry;
  }

  /** N2 */
  #advance(id: ContainerId, entry: Entry): void {
    if (this.#isStopped || entry.isBusy || entry.retry !== undefined) return;
    if (entry.isWanted && entry.state === 'supervised') return;
    entry.isBusy = true;
    void this.#during(this.#step(id, entry)).then((isDone) => {
      entry.isBusy = false;
      if (isDone) this.#advance(id, entry);
      return undefined;
    });
  }

  /** True when the next one may follow at once. */
  async #step(id: ContainerId, entry: Entry): Promise<boolean> {
    const { clock, logger, onChange } = this.#options;
    const { isWanted } = entry;
    try {
      await (isWanted ? this.#bringUp(id, entry) : this.#clear(id, entry));
      entry.problem = undefined;
      entry.pauses.reset();
      return this.#entries.get(id) === entry;
    } catch (error) {
      const what = isWanted ? 'set up' : 'cleared away';
      const reason = `container ${id} cannot be ${what}: ${messageOf(error)}`;
      const pauseMs = entry.pauses.next();
      logger.error(reason, { pauseMs });
      entry.problem = this.#problemOf(id, reason);
      entry.retry = clock.after(pauseMs, () => {
        entry.retry = undefined;
        this.#advance(id, entry);
      });
      if (this.#isStopped) entry.retry.cancel();
      return false;
    } finally {
      onChange();
    }
  }

  async #bringUp(id: ContainerId, entry: Entry): Promise<void> {
    // A folder that is in use is complete, and its archive may be gone by now.
    if (!this.#executors.isAlive(id)) await this.#setUp(id);
    if (this.#isStopped || !entry.isWanted) return;
    this.#executors.add(id);
    entry.state = 'supervised';
  }

  async #setUp(id: ContainerId): Promise<void> {
    const { setUp, files, folder } = this.#options;
    await setUp(id);
    await bringBack(files, containerFolder(folder, id), this.#keptOf(id));
  }

  async #clear(id: ContainerId, entry: Entry): Promise<void> {
    const { files, folder, stateManager, topologyName, logger } = this.#options;
    entry.state = 'there';
    await this.#executors.remove(id);
    const path = containerFolder(folder, id);
    const children = listPidFiles(files, path).map(({ identity }) => identity);
    if ((await killProcesses(children, this.#options)).length > 0) {
      throw environmentError('PROCESS_LOST', 'some of its processes cannot be ended');
    }
    await keepContainer(files, path, this.#keptOf(id));
    await files.removeTree(path);
    await stateManager.delete(paths.container(topologyName, id));
    await stateManager.delete(paths.restart(topologyName, id));
    if (entry.isWanted) return; // It is wanted again: the next step sets it up anew.
    this.#entries.delete(id);
    logger.info('a container has left the topology', { container: id });
  }

  /** N1: whatever an interrupted change has left. */
  async #present(): Promise<readonly ContainerId[]> {
    const { files, folder, stateManager, topologyName } = this.#options;
    const folders = (await containersIn(files, folder.root)).map(({ container }) => container);
    const list = (): Promise<readonly string[]> =>
      stateManager.list(paths.containers(topologyName));
    const what = 'list the containers that report';
    const nodes = await retry(list, { ...this.#options, what, limitMs: STATE_LIMIT_MS });
    const executors = executorRecords(files, folder.root).flatMap(
      ({ name }) => containerOf(name) ?? [],
    );
    return [...new Set([...folders, ...nodes.map(Number).map(containerId), ...executors])];
  }

  #keptOf(id: ContainerId): string {
    const { dataRoot, topologyId } = this.#options;
    return keptLogsOf(dataRoot, topologyId, id);
  }

  #problemOf(id: ContainerId, reason: string): ProcessReport {
    const atMs = this.#options.clock.wallNow();
    return {
      name: executorName(id),
      pid: null,
      state: 'restarting',
      restarts: 0,
      startedAtMs: atMs,
      lastExit: { code: null, signal: null, atMs, reason, lastLines: [] },
    };
  }
}
