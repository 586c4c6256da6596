import type { FinishedRun } from '../checkers/checker.ts';
import type { FaultPlan } from '../faults/fault.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';

/** Something that a checker, or the run itself, has to complain about. */
export interface Problem {
  /** The checker's name. */
  readonly checker: string;
  readonly text: string;
}

/** What came of one simulated run. */
export interface Verdict {
  readonly seed: number;
  readonly passed: boolean;
  readonly problems: readonly Problem[];
  /** The plan that the run had; what the seed says unless one was given. */
  readonly faults: FaultPlan;
  readonly workload: WorkloadDescription;
  readonly outcome: FinishedRun['outcome'];
  readonly simulatedMs: number;
  readonly events: number;
  /** sha256 of the event log: the same for every run of the same scenario. */
  readonly logHash: string;
  /** The log itself, where it was asked for. */
  readonly log: string | undefined;
  /** What everyone was doing when a limit ended the run. */
  readonly stateDump: string | undefined;
}
