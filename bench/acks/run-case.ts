import { resolve } from 'node:path';
import { type JobRun, runJob, type Window } from '../word-count/run-job.ts';
import { latency, type Latency, lastOf, wordsPerSecond } from '../word-count/samples.ts';
import type { AckCase } from './cases.ts';

const JOB = resolve(import.meta.dirname, 'job.ts');
/** As the kit of Storm has it: so many words of a spout may be under way. */
const PENDING_MAX = 20_000;

export interface Acks {
  readonly ackedPerSecond: number;
  readonly failed: number;
  /** From emit to ack. */
  readonly complete: Latency | undefined;
}

export type AckRun = JobRun<Acks | undefined>;

/** Submits the job, measures one window, and kills it. */
export function runAckCase(bench: AckCase, window: Window): Promise<AckRun> {
  const job = {
    module: JOB,
    args: (samples: string) => [
      bench.bolt,
      String(bench.tasks),
      String(bench.rate),
      samples,
      bench.hasAcks ? 'acked' : 'plain',
    ],
    config: {
      'topology.stmgrs': bench.containers,
      ...(bench.hasAcks && {
        'topology.reliability.mode': 'ATLEAST_ONCE',
        'topology.max.spout.pending': PENDING_MAX,
      }),
    },
  };
  return runJob(job, window, (samples, fromMicros, toMicros) =>
    bench.hasAcks ? acksOf(samples, fromMicros, toMicros, bench.rate > 0) : undefined,
  );
}

function acksOf(samples: string, from: number, to: number, isPaced: boolean): Acks {
  return {
    ackedPerSecond: wordsPerSecond(samples, from, to, 'spout-'),
    failed: lastOf(samples, 'failed', 'spout-'),
    complete: isPaced ? latency(samples, from, to, 'spout-') : undefined,
  };
}
