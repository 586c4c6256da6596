import { join } from 'node:path';
import { environmentError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import { createArchives, createScheduler } from '../../scheduler/create.ts';
import type { Scheduler, SchedulerTarget } from '../../scheduler/scheduler.ts';
import { createStateManager } from '../../state-manager/create.ts';
import type { StateAddress } from '../../state-manager/state-address.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import { environmentOf } from '../machine/simulated-environment.ts';
import type { SimulatedMachine } from '../machine/simulated-machine.ts';
import type { SimulatedProcess } from '../machine/simulated-process.ts';

/*
  A person's command: a short-lived process of the simulated machine, with the parts of a cluster
  that a command of the real command line works with.
*/

/** Holds everything of the simulated machine, as the data root of a real one does. */
export const DATA_ROOT = '/heron';
export const STATE_ROOT = join(DATA_ROOT, 'repository', 'state', 'local');
export const STATE: StateAddress = { kind: 'file', folder: STATE_ROOT };

export interface CommandTools {
  readonly process: SimulatedProcess;
  readonly environment: ProcessEnvironment;
  readonly logger: Logger;
  readonly stateManager: StateManager;
  readonly scheduler: Scheduler;
  archives(target: SchedulerTarget): Uploader;
  /**
   * Does some work in the process; settles as the work does, once the kernel has run it.
   *
   * @throws EngineError PROCESS_LOST when the process ended before its work did.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface CommandStart {
  readonly name: string;
  /** The addresses that containers get in turn. */
  readonly hosts: readonly string[];
}

/** Runs a command in a process of its own, which ends with it. Settles like `run` of its tools. */
export function runCommand<Result>(
  machine: SimulatedMachine,
  start: CommandStart,
  work: (tools: CommandTools) => Promise<Result>,
): Promise<Result> {
  const tools = openCommand(machine, start);
  return tools.run(async () => {
    let code = 1;
    try {
      const result = await work(tools);
      await tools.stateManager.close();
      code = 0;
      return result;
    } finally {
      machine.kernel.at(0, () => tools.process.exit(code));
    }
  });
}

/** A process that runs until it is told to exit. */
export function openCommand(machine: SimulatedMachine, start: CommandStart): CommandTools {
  const { name, hosts } = start;
  const process = machine.startBare(name);
  const environment = environmentOf(machine, process, { args: [], sayReady: () => {} });
  const { clock, random, files, processes, network, executable, variables } = environment;
  const logger = environment.openLog({ name, level: 'info', file: name, maxBytes: 1, filesMax: 1 });
  const base = { clock, random, logger, files, processes, variables };
  const stateManager = createStateManager(STATE, { ...base, network });
  const parts = { ...base, dataRoot: DATA_ROOT, state: STATE, stateManager };
  return {
    process,
    environment,
    logger,
    stateManager,
    scheduler: createScheduler({ kind: 'local', ...parts, hosts, executable }),
    archives: (target) => createArchives(parts, target),
    run: (work) => runIn(machine, process, work),
  };
}

/** Whoever waits is no part of the process: it goes on in an event of nobody's. */
function runIn<Result>(
  machine: SimulatedMachine,
  process: SimulatedProcess,
  work: () => Promise<Result>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const { kernel } = machine;
  const settle = (call: () => void): void => {
    unwatch();
    kernel.at(0, call);
  };
  const unwatch = machine.onEnd((ended, { reason }) => {
    if (ended !== process) return;
    const lost = environmentError('PROCESS_LOST', `the process of '${process.name}' ${reason}`);
    settle(() => reject(lost));
  });
  process.mainThread.post(0, () => {
    work().then(
      (result) => settle(() => resolve(result)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
  return promise;
}
