import type { Clock } from '../base/clock.ts';
import type { Logger, LogLevel } from '../base/logger.ts';
import type { ProcessContext } from '../base/process-main.ts';
import type { Random } from '../base/random.ts';
import { createStateManager } from '../state-manager/create.ts';
import type { StateAddress } from '../state-manager/state-address.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import type { ProcessEnvironment } from './process-environment.ts';

/** What every process hands to its own parts. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  /** The process's own failures go there, too. */
  readonly logger: Logger;
  readonly setLogLevel: (level: LogLevel) => void;
  /** To be closed by the last hook of the shutdown. */
  readonly stateManager: StateManager;
}

export interface SurroundingsOptions {
  readonly logFile: string;
  /** `info` unless set. */
  readonly logLevel?: LogLevel;
  /** Who speaks in the log. */
  readonly name: string;
  readonly logBytesMax: number;
  readonly logFilesMax: number;
  readonly state: StateAddress;
}

export function openSurroundings(
  context: ProcessContext,
  environment: ProcessEnvironment,
  { logFile, logLevel = 'info', name, logBytesMax, logFilesMax, state }: SurroundingsOptions,
): Surroundings {
  const { clock, random, files, processes, network, variables } = environment;
  const logger = environment.openLog({
    file: logFile,
    level: logLevel,
    name,
    maxBytes: logBytesMax,
    filesMax: logFilesMax,
  });
  context.logTo(logger);
  const stateManager = createStateManager(state, {
    clock,
    random,
    logger,
    files,
    processes,
    network,
    variables,
  });
  const setLogLevel = (level: LogLevel): void => logger.setLevel(level);
  return { clock, random, logger, setLogLevel, stateManager };
}
