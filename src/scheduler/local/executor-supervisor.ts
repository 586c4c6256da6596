import type { Clock } from '../../base/clock.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Files } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import type { Settings } from '../../model/settings.ts';
import { adoptProcess } from '../../supervision/adopt-process.ts';
import { readPidFile } from '../../supervision/pid-file.ts';
import type { ProcessHandle } from '../../supervision/process-handle.ts';
import type { Command, ProcessTable } from '../../supervision/process-table.ts';
import { restartPolicyOf } from '../../supervision/restart-policy.ts';
import { executorLimitMs } from '../../supervision/shutdown-limits.ts';
import { SupervisedProcess } from '../../supervision/supervised-process.ts';
import { containerFolder, executorOutput, type WorkingFolder } from './working-folder.ts';

/*
  The executors of one topology, one a container. They outlive their scheduler: the next one adopts
  those that its predecessor's pid files name and that still live, and starts the others.
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

export class ExecutorSupervisor {
  readonly #options: ExecutorSupervisorOptions;
  readonly #processes: SupervisedProcess[] = [];

  constructor(options: ExecutorSupervisorOptions) {
    this.#options = options;
  }

  get reports(): readonly ProcessReport[] {
    return this.#processes.map(({ report }) => report);
  }

  /** Adopts the container's executor when it lives, else starts one. */
  add(container: ContainerId): void {
    const { folder, settings, commandOf, processes, clock, random, logger, onChange } =
      this.#options;
    const command = commandOf(container);
    const supervised = new SupervisedProcess({
      name: command.name,
      policy: restartPolicyOf(settings),
      graceMs: executorLimitMs(settings.get('heron.shutdown.grace.ms')),
      clock,
      random,
      logger,
      onChange,
    });
    this.#processes.push(supervised);
    const output = executorOutput(containerFolder(folder, container), container);
    supervised.start(
      () => processes.startDetached(command, output),
      this.#adopt(command.name, output),
    );
  }

  /** Resolves when no executor is left. Nothing is started afterwards. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((supervised) => supervised.stop()));
  }

  #adopt(name: string, outputFile: string): ProcessHandle | undefined {
    const { files, processes, folder, logger } = this.#options;
    const pidFolder = folder.root;
    const identity = readPidFile(files, pidFolder, name);
    if (identity === undefined || !processes.isAlive(identity)) return undefined;
    logger.info('executor adopted', { child: name, pid: identity.pid });
    return adoptProcess({ name, pidFolder, identity, outputFile }, this.#options);
  }
}
