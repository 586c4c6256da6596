import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import type { ListenHttp } from '../../net/http-rules.ts';
import type { ProcessHandle } from '../../supervision/process-handle.ts';

/** The container's processes as the shell needs them. */
export interface ShellProcesses {
  readonly reports: () => readonly ProcessReport[];
  readonly isInstance: (name: string) => boolean;
  /** Undefined while it does not run. */
  readonly handleOf: (name: string) => ProcessHandle | undefined;
  /** Lets the process be silent until `work` has settled. */
  readonly withSilence: <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;
}

export interface ShellOptions {
  readonly listenHttp: ListenHttp;
  readonly host: string;
  readonly token: string;
  /** The container's. */
  readonly folder: string;
  readonly executorName: string;
  readonly executorPid: number;
  readonly processes: ShellProcesses;
  readonly clock: Clock;
  readonly logger: Logger;
}
