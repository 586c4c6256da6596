import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';

/*
  Runs many seeds on several workers.

  W1. A worker has one seed at a time; a seed is given to one worker, once.
  W2. A seed whose worker dies, or does not answer within the limit, has failed; another worker
      takes the next seed.
  W3. Workers are replaced after a number of seeds, so that what leaks in one run cannot end a
      search of many thousands.
*/

/** What a worker says of a seed. */
export interface SeedResult {
  readonly seed: number;
  readonly passed: boolean;
  /** For people, when it has failed. */
  readonly report: string;
}

export interface SeedWorker {
  /** Rejects when the worker has died. */
  run(seed: number): Promise<SeedResult>;
  /** Idempotent. */
  end(): void;
}

export interface SeedSearchOptions {
  readonly from: number;
  readonly seeds: number;
  readonly jobs: number;
  readonly seedsPerWorker: number;
  /** Real time that one seed may take, with its shrinking. */
  readonly limitMs: number;
  readonly startWorker: () => SeedWorker;
  readonly clock: Clock;
  readonly onResult: (result: SeedResult) => void;
}

export interface SearchOutcome {
  readonly passed: number;
  readonly failed: readonly number[];
}

export async function searchSeeds(options: SeedSearchOptions): Promise<SearchOutcome> {
  const { from, seeds, jobs, onResult } = options;
  let next = from;
  let passed = 0;
  const failed: number[] = [];
  const takeSeed = (): number | undefined => {
    if (next >= from + seeds) return undefined;
    next += 1;
    return next - 1;
  };
  const note = (result: SeedResult): void => {
    if (result.passed) passed += 1;
    else failed.push(result.seed);
    onResult(result);
  };
  await Promise.all(Array.from({ length: jobs }, () => runSeeds(options, takeSeed, note)));
  return { passed, failed: failed.toSorted((one, other) => one - other) };
}

/** What one worker after the other does in one place. */
async function runSeeds(
  options: SeedSearchOptions,
  takeSeed: () => number | undefined,
  note: (result: SeedResult) => void,
): Promise<void> {
  let worker: SeedWorker | undefined;
  let seedsOfWorker = 0;
  for (let seed = takeSeed(); seed !== undefined; seed = takeSeed()) {
    worker ??= options.startWorker();
    const result = await runSeed(worker, seed, options);
    seedsOfWorker += 1;
    if (!result.isHealthy || seedsOfWorker === options.seedsPerWorker) {
      worker.end();
      worker = undefined;
      seedsOfWorker = 0;
    }
    note(result);
  }
  worker?.end();
}

async function runSeed(
  worker: SeedWorker,
  seed: number,
  { clock, limitMs }: SeedSearchOptions,
): Promise<SeedResult & { readonly isHealthy: boolean }> {
  let limit: Timer | undefined;
  const tooLong = new Promise<SeedResult>((_, reject) => {
    const why = new Error(`it takes longer than ${limitMs} ms of real time`);
    limit = clock.after(limitMs, () => reject(why));
  });
  try {
    return { ...(await Promise.race([worker.run(seed), tooLong])), isHealthy: true };
  } catch (error) {
    const report = `seed ${seed} fails: ${messageOf(error)}`;
    return { seed, passed: false, report, isHealthy: false };
  } finally {
    limit?.cancel();
  }
}
