import { type Clock, systemClock } from '../base/clock.ts';
import { openLogger } from '../base/log-file.ts';
import type { Logger } from '../base/logger.ts';
import type { ProcessContext } from '../base/process-main.ts';
import { createSystemRandom, type Random } from '../base/random.ts';
import { createStateManager } from '../state-manager/create.ts';
import type { StateManager } from '../state-manager/state-manager.ts';

/** What every process that is made of the real world's parts hands to its own parts. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  /** The process's own failures go there, too. */
  readonly logger: Logger;
  /** To be closed by the last hook of the shutdown. */
  readonly stateManager: StateManager;
}

export interface SurroundingsOptions {
  readonly logFile: string;
  /** Who speaks in the log. */
  readonly name: string;
  readonly logBytesMax: number;
  readonly logFilesMax: number;
  readonly stateRoot: string;
}

export function openSurroundings(
  context: ProcessContext,
  { logFile, name, logBytesMax, logFilesMax, stateRoot }: SurroundingsOptions,
): Surroundings {
  const clock = systemClock;
  const random = createSystemRandom();
  const logger = openLogger({
    file: logFile,
    level: 'info',
    name,
    clock,
    maxBytes: logBytesMax,
    filesMax: logFilesMax,
  });
  context.logTo(logger);
  const stateManager = createStateManager({ kind: 'file', root: stateRoot, clock, random, logger });
  return { clock, random, logger, stateManager };
}
