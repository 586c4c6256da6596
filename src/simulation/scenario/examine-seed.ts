import type { FaultPlan } from '../faults/fault.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import { failureReport } from './failure-report.ts';
import type { Mode } from './mode.ts';
import type { SeedResult } from './seed-search.ts';
import { shrink } from './shrink.ts';
import type { Verdict } from './verdict.ts';

/** What is to be run: faults and workload are for replaying a part of what the seed says. */
export interface ScenarioRequest {
  readonly seed: number;
  /** At most once unless given. */
  readonly mode?: Mode;
  /** Whether the topology is changed while it runs. False unless given. */
  readonly hasChanges?: boolean;
  readonly faults?: FaultPlan;
  readonly workload?: WorkloadDescription;
  /** Whether the verdict has the event log, which takes memory. */
  readonly keepsLog?: boolean;
}

export type RunScenario = (request: ScenarioRequest) => Promise<Verdict>;

export interface ExamineOptions {
  readonly run: RunScenario;
  readonly mode?: Mode;
  readonly hasChanges?: boolean;
  /** Runs that making a failing scenario smaller may take. */
  readonly shrinkRunsMax: number;
  /** Each seed that is a multiple of this is run twice, to see that both runs are the same. */
  readonly repeatEvery: number;
  /** Returns the name of the file. */
  readonly writeLog: (seed: number, log: string) => string;
}

/** Runs a seed; when it fails, makes it small, writes its log and says how to see it again. */
export async function examineSeed(seed: number, options: ExamineOptions): Promise<SeedResult> {
  const { repeatEvery } = options;
  const run: RunScenario = (request) => options.run({ ...request, ...modeOf(options) });
  const verdict = await run({ seed });
  if (!verdict.passed) return explain(verdict, { ...options, run });
  if (seed % repeatEvery !== 0) return { seed, passed: true, report: '' };
  const again = await run({ seed });
  const problem = differenceOf(verdict, again);
  if (problem === undefined) return { seed, passed: true, report: '' };
  return { seed, passed: false, report: `seed ${seed} fails: ${problem}` };
}

function modeOf(options: ExamineOptions): Pick<ScenarioRequest, 'mode' | 'hasChanges'> {
  const { mode, hasChanges } = options;
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(hasChanges === undefined ? {} : { hasChanges }),
  };
}

async function explain(failed: Verdict, options: ExamineOptions): Promise<SeedResult> {
  const { run, shrinkRunsMax, writeLog } = options;
  const { seed } = failed;
  const shrunk = await shrink(failed, {
    run: ({ faults, workload }) =>
      run({ seed, faults, ...(workload === undefined ? {} : { workload }) }),
    runsMax: shrinkRunsMax,
  });
  const { faults, workload } = shrunk.trial;
  const logged = await run({
    seed,
    faults,
    ...(workload === undefined ? {} : { workload }),
    keepsLog: true,
  });
  const logFile = writeLog(seed, logText(logged));
  return {
    seed,
    passed: false,
    report: failureReport({ failed, shrunk, logFile, ...modeOf(options) }),
  };
}

/** The event log, and what everyone was doing at its end when a limit was hit. */
export function logText({ log = '', stateDump }: Verdict): string {
  return stateDump === undefined ? log : `${log}\n${stateDump}\n`;
}

/** Undefined when two runs of one seed were the same, to the byte of their event logs. */
export function differenceOf(one: Verdict, other: Verdict): string | undefined {
  if (one.logHash === other.logHash) return undefined;
  return `two runs differ: their logs have the hashes ${one.logHash} and ${other.logHash}`;
}
