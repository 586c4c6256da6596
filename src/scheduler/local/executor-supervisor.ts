import type { Clock } from '../../base/clock.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { isAlive } from '../../base/process-identity.ts';
import type { Random } from '../../base/random.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import type { Settings } from '../../model/settings.ts';
import { readPidFile } from '../../supervision/pid-file.ts';
import type { ProcessHandle } from '../../supervision/process-handle.ts';
import { restartPolicyOf } from '../../supervision/restart-policy.ts';
import { executorLimitMs } from '../../supervision/shutdown-limits.ts';
import { adoptProcess, type Command, startDetached } from '../../supervision/start-process.ts';
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
    const { folder, settings, commandOf, clock, random, logger, onChange } = this.#options;
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
    supervised.start(() => startDetached(command, output), this.#adopt(command.name, output));
  }

  /** Resolves when no executor is left. Nothing is started afterwards. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((supervised) => supervised.stop()));
  }

  #adopt(name: string, outputFile: string): ProcessHandle | undefined {
    const { clock, folder, logger } = this.#options;
    const identity = readPidFile(folder.root, name);
    if (identity === undefined || !isAlive(identity)) return undefined;
    logger.info('executor adopted', { child: name, pid: identity.pid });
    return adoptProcess({ name, pidFolder: folder.root, identity }, { outputFile, clock });
  }
}
