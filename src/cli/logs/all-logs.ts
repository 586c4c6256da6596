import type { Clock } from '../../base/clock.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import type { LogFolder } from '../../scheduler/create.ts';
import { paths } from '../../state-manager/paths.ts';
import { findContainer } from '../../topology-client/container-client.ts';
import { targetOf } from '../cluster.ts';
import type { FoundTopology } from '../find-topology.ts';
import { readReports } from '../read-status.ts';
import { LocalLogs } from './local-logs.ts';
import type { LogFile } from './log-files.ts';
import { type OnSilent, type RemoteContainer, ShellLogs } from './shell-logs.ts';

/*
  The log files of all containers of a topology: those of this machine in their folders, those of
  others through the containers' shells. A container that has been here is never looked for
  elsewhere: when its folder has gone, so has the container.
*/

/** How soon a container of another machine that an update adds is seen. */
const CONTAINERS_PERIOD_MS = 2_000;

/** What is missed by who stays is read later, or its container has just ended. */
const SILENCE_MS = 3_000;

export interface AllLogsOptions {
  readonly clock: Clock;
  /** For readers that stay (LocalLogs F2). */
  readonly holdsFiles: boolean;
  /** All unless given. */
  readonly containers: readonly number[];
  /** A container of another machine whose logs cannot be read, and why. */
  readonly onSilent: OnSilent;
}

export class AllLogs implements AsyncDisposable {
  readonly #found: FoundTopology;
  readonly #options: AllLogsOptions;
  readonly #local: LocalLogs;
  readonly #shells: ShellLogs;
  readonly #hereOnce = new Set<ContainerId>();
  readonly #unserved = new Set<ContainerId>();
  #folders: readonly LogFolder[] = [];
  #remote: readonly RemoteContainer[] = [];
  #remoteAtMs = Number.NEGATIVE_INFINITY;

  constructor(found: FoundTopology, options: AllLogsOptions) {
    this.#found = found;
    this.#options = options;
    this.#local = new LocalLogs(options);
    const patienceMs = options.holdsFiles ? SILENCE_MS : 0;
    this.#shells = new ShellLogs({ ...options, patienceMs });
  }

  /** Those of this machine, as they were last listed. */
  get folders(): readonly string[] {
    return this.#folders.map(({ path }) => path);
  }

  /** Whether there are containers of other machines. */
  get isSpread(): boolean {
    return this.#remote.length > 0;
  }

  /** Whether there is anything at all to read, now. */
  get isEmpty(): boolean {
    return this.#folders.length === 0 && this.#remote.length === 0;
  }

  async list(): Promise<readonly LogFile[]> {
    const { clock } = this.#options;
    this.#folders = (await this.#foldersHere()).filter((folder) => this.#isAsked(folder));
    if (clock.now() - this.#remoteAtMs >= CONTAINERS_PERIOD_MS) {
      this.#remote = await this.#elsewhere();
      this.#remoteAtMs = clock.now();
    }
    const [here, there] = await Promise.all([
      this.#local.list(this.#folders),
      this.#shells.list(this.#remote),
    ]);
    return [...here, ...there];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#local[Symbol.asyncDispose]();
  }

  #isAsked({ container }: Pick<LogFolder, 'container'>): boolean {
    const { containers } = this.#options;
    return containers.length === 0 || containers.includes(container);
  }

  /** Of a running topology, or where they were kept when it ended. */
  async #foldersHere(): Promise<readonly LogFolder[]> {
    const { cluster, place, status } = this.#found;
    const running = await cluster.logs.running(targetOf(place, status.record.name));
    const { id } = status;
    const folders = running.length > 0 || id === undefined ? running : await cluster.logs.kept(id);
    for (const { container } of folders) this.#hereOnce.add(container);
    return folders;
  }

  async #elsewhere(): Promise<readonly RemoteContainer[]> {
    const { cluster, status } = this.#found;
    const { stateManager } = cluster;
    const { name } = status.record;
    const reports = (await readReports(stateManager, status.record)).filter(
      ({ containerId: container }) =>
        !this.#hereOnce.has(container) && this.#isAsked({ container }),
    );
    if (reports.length === 0) return [];
    const token = await stateManager.read(paths.token(name));
    if (token === undefined) return [];
    const secret = new TextDecoder().decode(token);
    return reports.flatMap((report) => this.#remoteOf(report, secret));
  }

  #remoteOf(report: ContainerReport, token: string): readonly RemoteContainer[] {
    const { containerId: container, host } = report;
    const shell = findContainer(report, token);
    if (shell !== undefined) return [{ container, host, shell }];
    if (!this.#unserved.has(container)) {
      const reason = 'its executor has no shell yet';
      this.#options.onSilent({ container, host }, reason);
    }
    this.#unserved.add(container);
    return [];
  }
}
