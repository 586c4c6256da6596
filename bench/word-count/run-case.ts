import { resolve } from 'node:path';
import type { BenchCase } from './cases.ts';
import { type JobRun, runJob, type Window } from './run-job.ts';
import { latency, type Latency } from './samples.ts';

const JOB = resolve(import.meta.dirname, 'job.ts');

export type CaseRun = JobRun<Latency | undefined>;

/** Submits the job, measures one window, and kills it. */
export function runCase(bench: BenchCase, window: Window): Promise<CaseRun> {
  const job = {
    module: JOB,
    args: (samples: string) => [bench.bolt, String(bench.tasks), String(bench.rate), samples],
    config: { 'topology.stmgrs': bench.containers },
  };
  return runJob(job, window, (samples, fromMicros, toMicros) =>
    bench.bolt === 'latency' ? latency(samples, fromMicros, toMicros) : undefined,
  );
}
