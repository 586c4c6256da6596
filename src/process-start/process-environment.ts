import type { Clock } from '../base/clock.ts';
import type { Files } from '../base/files.ts';
import type { LogFile, LogFileOptions } from '../base/log-file.ts';
import type { MachineTime } from '../base/machine-time.ts';
import type { Random } from '../base/random.ts';
import type { AppendFile, RotatingFileOptions } from '../base/rotating-file.ts';
import type { ResourceUse } from '../metrics/process-metrics.ts';
import type { ListenHttp } from '../net/http-rules.ts';
import type { Network } from '../net/network.ts';
import type { ProcessTable } from '../supervision/process-table.ts';

/**
 * The world as one process of the engine sees it: everything that is not a pure function of what
 * the process was given. `main.ts` of each process takes the real one (system-environment.ts) and
 * hands it to the same function that the simulator calls with a simulated one (decision D7).
 */
export interface ProcessEnvironment {
  /** What followed the entry file on the command line. */
  readonly arguments: readonly string[];
  readonly variables: NodeJS.ProcessEnv;
  readonly pid: number;
  /** The program that runs entry files: Node. */
  readonly executable: string;
  readonly workingDirectory: string;
  readonly clock: Clock;
  /** By the clock that all processes of this machine share. */
  machineTime(): MachineTime;
  readonly random: Random;
  readonly network: Network;
  readonly files: Files;
  readonly processes: ProcessTable;
  readonly listenHttp: ListenHttp;
  openLog(options: Omit<LogFileOptions, 'clock'>): LogFile;
  /** For output and metrics, which are lines like a log's. */
  openAppendFile(options: RotatingFileOptions): AppendFile;
  /** For the process's metrics. */
  resourceUse(): ResourceUse;
  /** Beats for the process that started this one (base/beat.ts), if that wants to hear it. */
  startBeating(periodMs: number): void;
  /** Answers what that process asks about this one (inspection/requests.ts). */
  answerParent(): void;
  /** Tells the process that started this one that it does its work; nobody may be there to hear. */
  sayReady(): void;
}
