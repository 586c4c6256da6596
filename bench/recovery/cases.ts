import { setTimeout as wait } from 'node:timers/promises';
import { nowMicros } from '../word-count/measured-bolts.ts';
import type { RunningJob } from './running-job.ts';

/* What is done to the job while it runs, and what is measured of it. */

/** Milliseconds, or counts where the name has no `Ms`. */
export type Figures = Readonly<Record<string, number>>;

export interface RecoveryCase {
  readonly name: string;
  /** What is aimed at: the figure, and the most that it should be. */
  readonly aims: Figures;
  readonly measure: (job: RunningJob) => Promise<Figures>;
}

/** The tasks of `work` in containers 1 and 2, as round-robin packing places them. */
const SECOND_WORK = 4;

/** Trees that an update has cost would have timed out by then. */
export const TIMEOUT_SECONDS = 5;
/** Time-outs rotate in buckets: none is later than that. */
const TIMED_OUT_MS = TIMEOUT_SECONDS * 1_000 * 1.5;
/** What a change leaves behind shows itself by then. */
const AFTER_MS = 1_000;

export const CASES: readonly RecoveryCase[] = [
  {
    name: 'instance killed',
    aims: { againMs: 2_000 },
    measure: (job) => killInContainer2(job, `--instance-id=container_2_work_${SECOND_WORK}`),
  },
  {
    name: 'stream manager killed',
    aims: { againMs: 3_000 },
    measure: (job) => killInContainer2(job, '--id=stmgr-2'),
  },
  {
    name: 'topology master killed',
    aims: { againMs: 3_000, longestGapMs: 1_000, failed: 0 },
    measure: killMaster,
  },
  ...[4, 2].map((parallelism) =>
    updateCase(`update: work to ${parallelism}`, [
      '--component-parallelism',
      `work:${parallelism}`,
    ]),
  ),
  ...[4, 2].map((containers) =>
    updateCase(`update: ${containers} containers`, ['--container-number', `${containers}`]),
  ),
];

/** `againMs`: from when its executor saw the death to the first word on the way that was broken. */
async function killInContainer2(job: RunningJob, argument: string): Promise<Figures> {
  const failedBefore = job.arrivals.failsOf();
  const killedAt = job.kill(argument);
  const diedAt = await job.until(
    'its executor sees the death',
    () =>
      job
        .linesAfter(killedAt, 2, 'heron-executor-2.log')
        .find(({ message }) => message === 'process died')?.at,
  );
  const againAt = await job.until('words come that way again', () =>
    job.arrivals.firstBy(SECOND_WORK, diedAt),
  );
  await wait(AFTER_MS);
  const { arrivals } = job;
  return {
    detectedMs: (diedAt - killedAt) / 1_000,
    againMs: (againAt - diedAt) / 1_000,
    longestGapMs: arrivals.longestGapMs(killedAt, againAt + AFTER_MS * 1_000),
    failed: arrivals.failsOf() - failedBefore,
  };
}

/** `againMs`: from when its executor saw the death until all stream managers have registered. */
async function killMaster(job: RunningJob): Promise<Figures> {
  const failedBefore = job.arrivals.failsOf();
  const killedAt = job.kill('--controller-port=');
  const diedAt = await job.until(
    'executor 0 sees the death',
    () =>
      job
        .linesAfter(killedAt, 0, 'heron-executor-0.log')
        .find(({ message }) => message === 'process died')?.at,
  );
  const againAt = await job.until('both stream managers have registered', () => {
    const lines = job.linesAfter(diedAt, 0, 'heron-tmanager.log');
    return lines.filter(({ message }) => message === 'a stream manager has registered')[1]?.at;
  });
  await wait(AFTER_MS);
  const { arrivals } = job;
  return {
    detectedMs: (diedAt - killedAt) / 1_000,
    againMs: (againAt - diedAt) / 1_000,
    longestGapMs: arrivals.longestGapMs(killedAt, againAt + AFTER_MS * 1_000),
    failed: arrivals.failsOf() - failedBefore,
  };
}

function updateCase(name: string, args: readonly string[]): RecoveryCase {
  return {
    name,
    aims: { longestGapMs: 1_000, timedOut: 0 },
    measure: (job) => update(job, args),
  };
}

/** `commandMs`: until the command says that it is done. */
async function update(job: RunningJob, args: readonly string[]): Promise<Figures> {
  const before = job.arrivals;
  const beganAt = nowMicros();
  await job.update(...args);
  const endedAt = nowMicros();
  await wait(TIMED_OUT_MS);
  const { arrivals } = job;
  return {
    commandMs: (endedAt - beganAt) / 1_000,
    longestGapMs: arrivals.longestGapMs(beganAt, endedAt + AFTER_MS * 1_000),
    timedOut: arrivals.failsOf('time-out') - before.failsOf('time-out'),
    failed: arrivals.failsOf() - before.failsOf(),
  };
}
