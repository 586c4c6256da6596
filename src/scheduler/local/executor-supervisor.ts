import { assert } from '../../base/assert.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Files } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import type { Settings } from '../../model/settings.ts';
import { adoptProcess } from '../../supervision/adopt-process.ts';
import { lastBeatMs, makeBeatFile } from '../../supervision/beat-file.ts';
import { endProcesses } from '../../supervision/end-processes.ts';
import { readPidFile, removePidFile } from '../../supervision/pid-file.ts';
import type { ProcessHandle } from '../../supervision/process-handle.ts';
import type { Command, ProcessTable } from '../../supervision/process-table.ts';
import { restartPolicyOf } from '../../supervision/restart-policy.ts';
import { executorLimitMs } from '../../supervision/shutdown-limits.ts';
import { type Sign, SilenceWatch } from '../../supervision/silence-watch.ts';
import { SupervisedProcess } from '../../supervision/supervised-process.ts';
import {
  containerFolder,
  executorName,
  executorOutput,
  type WorkingFolder,
} from './working-folder.ts';

/*
  The executors of one topology, one a container. They outlive their scheduler: the next one adopts
  those that its predecessor's pid files name and that still live, and starts the others.

  E1. One that hangs, or never gets to its work, is killed and started again, adopted or not (O32).
      Its beats are the dates of a file; a scheduler that cannot date anything on that disk itself
      does not judge by them.
*/

export interface ExecutorSupervisorOptions {
  readonly folder: WorkingFolder;
  readonly settings: Settings;
  readonly commandOf: (container: ContainerId) => Command;
  readonly files: Files;
  readonly processes: ProcessTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onChange: () => void;
}

interface Entry {
  readonly container: ContainerId;
  readonly process: SupervisedProcess;
  readonly isAdopted: boolean;
}

export class ExecutorSupervisor {
  readonly #options: ExecutorSupervisorOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #silence: SilenceWatch;
  readonly #looks: Timer;
  #isLooking = false;

  constructor(options: ExecutorSupervisorOptions) {
    this.#options = options;
    const { settings, clock } = options;
    this.#silence = new SilenceWatch(settings.get('heron.scheduler.executor.silence.ms'));
    this.#looks = clock.every(this.#silence.periodMs, () => void this.#look());
  }

  get reports(): readonly ProcessReport[] {
    return [...this.#entries.values()].map(({ process }) => process.report);
  }

  /** Whether the container's executor lives, whoever started it. */
  isAlive(container: ContainerId): boolean {
    const { files, folder } = this.#options;
    const identity = readPidFile(files, folder.root, executorName(container));
    return identity !== undefined && this.#options.processes.isAlive(identity);
  }

  /** Adopts the container's executor when it lives, else starts one. */
  add(container: ContainerId): void {
    const { folder, settings, commandOf, processes, clock, random, logger, files, onChange } =
      this.#options;
    const command = commandOf(container);
    assert(!this.#entries.has(command.name), `${command.name} is supervised once`);
    const process = new SupervisedProcess({
      name: command.name,
      policy: restartPolicyOf(settings),
      graceMs: executorLimitMs(settings.get('heron.shutdown.grace.ms')),
      clock,
      random,
      logger,
      onChange,
    });
    const containerPath = containerFolder(folder, container);
    const output = executorOutput(containerPath, container);
    const adopted = this.#adopt(command.name, output);
    this.#entries.set(command.name, { container, process, isAdopted: adopted !== undefined });
    const launch = (): ProcessHandle => {
      makeBeatFile({ files, logger, folder: containerPath });
      return processes.startDetached(command, output);
    };
    process.start(launch, adopted);
  }

  /**
   * Resolves when the container has no executor, whoever started it; another one may be added then.
   *
   * @throws EngineError PROCESS_LOST when it cannot be ended.
   */
  async remove(container: ContainerId): Promise<void> {
    const { files, folder, settings, onChange } = this.#options;
    const name = executorName(container);
    await this.#entries.get(name)?.process.stop();
    this.#entries.delete(name);
    onChange();
    const identity = readPidFile(files, folder.root, name);
    const graceMs = executorLimitMs(settings.get('heron.shutdown.grace.ms'));
    const left =
      identity === undefined ? [] : await endProcesses([identity], { ...this.#options, graceMs });
    if (left.length > 0) throw environmentError('PROCESS_LOST', `${name} cannot be ended`);
    removePidFile(files, folder.root, name);
  }

  /** Resolves when no executor is left. Nothing is started afterwards. */
  async stop(): Promise<void> {
    this.#looks.cancel();
    await Promise.all([...this.#entries.values()].map(({ process }) => process.stop()));
  }

  #adopt(name: string, outputFile: string): ProcessHandle | undefined {
    const { files, processes, folder, logger } = this.#options;
    const pidFolder = folder.root;
    const identity = readPidFile(files, pidFolder, name);
    if (identity === undefined || !processes.isAlive(identity)) return undefined;
    logger.info('executor adopted', { child: name, pid: identity.pid });
    return adoptProcess({ name, pidFolder, identity, outputFile }, this.#options);
  }

  /** A look that hangs with the disk makes the next one late, and a late one accuses nobody. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const entries = [...this.#entries];
    const signs = await Promise.all(
      entries.map(async ([name, entry]) => [name, await this.#signOf(entry)] as const),
    );
    for (const { name, silentMs } of this.#silence.look(
      new Map(signs),
      this.#options.clock.now(),
    )) {
      const entry = this.#entries.get(name);
      if (entry !== undefined) await this.#killHung(entry, silentMs);
    }
    this.#isLooking = false;
  }

  async #signOf({ container, process, isAdopted }: Entry): Promise<Sign | undefined> {
    const { files, folder, logger } = this.#options;
    const { life } = process;
    if (life === undefined) return undefined;
    const containerPath = containerFolder(folder, container);
    const beat = await lastBeatMs(files, containerPath);
    if (beat === undefined) makeBeatFile({ files, logger, folder: containerPath });
    // A life that ended meanwhile is none to judge; the first one of an adopted executor is old.
    if (beat === undefined || process.life !== life) return undefined;
    return { life, beat, hasBegun: isAdopted && life === 1 };
  }

  /** E1 */
  async #killHung({ container, process }: Entry, silentMs: number): Promise<void> {
    const { files, folder, clock, logger } = this.#options;
    const { life } = process;
    try {
      await files.date(containerFolder(folder, container), clock.wallNow());
    } catch (error) {
      logger.warn('whether executors hang cannot be told', { reason: messageOf(error) });
      return;
    }
    if (process.life !== life) return;
    process.kill(`hung: it had not beaten for ${silentMs} ms, and its scheduler killed it`);
  }
}
