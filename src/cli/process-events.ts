import type { ContainerReport, ProcessExit, ProcessState } from '../model/container-report.ts';

/** A process of the topology has ended without being told to. */
export interface ProcessEvent {
  readonly container: number;
  readonly process: string;
  readonly state: ProcessState;
  readonly exit: ProcessExit;
}

/** Notices each end of a process once, however often the reports repeat it. */
export class ProcessEvents {
  readonly #seen = new Map<string, number>();

  /** What is new in these reports. */
  take(reports: readonly ContainerReport[]): readonly ProcessEvent[] {
    return reports.flatMap(({ containerId, processes }) =>
      processes.flatMap(({ name, state, lastExit: exit }) => {
        if (exit === undefined || this.#seen.get(name) === exit.atMs) return [];
        this.#seen.set(name, exit.atMs);
        return [{ container: containerId, process: name, state, exit }];
      }),
    );
  }
}
