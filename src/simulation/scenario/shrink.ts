import type { FaultPlan } from '../faults/fault.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import { fewestThat } from './fewest.ts';
import { simplerWorkloads } from './simpler-workload.ts';
import type { Verdict } from './verdict.ts';

/*
  Makes a failing scenario small: first the fewest faults with which it still fails, then a simpler
  workload, then once more the faults.

  H1. What is returned has failed in a run of its own, and in the same way: at least one of the
      checkers that complained at first complains still.
  H2. At most `runsMax` runs.
*/

export interface Trial {
  readonly faults: FaultPlan;
  /** What the seed says unless set. */
  readonly workload: WorkloadDescription | undefined;
}

export interface ShrinkOptions {
  readonly run: (trial: Trial) => Promise<Verdict>;
  readonly runsMax: number;
}

export interface Shrunk {
  readonly trial: Trial;
  readonly verdict: Verdict;
  readonly runs: number;
}

export async function shrink(failed: Verdict, options: ShrinkOptions): Promise<Shrunk> {
  const shrinking = new Shrinking(failed, options);
  await shrinking.dropFaults();
  await shrinking.simplifyWorkload();
  await shrinking.dropFaults();
  return shrinking.result;
}

class Shrinking {
  readonly #options: ShrinkOptions;
  readonly #complaints: ReadonlySet<string>;
  #best: { readonly trial: Trial; readonly verdict: Verdict };
  #runs = 0;

  constructor(failed: Verdict, options: ShrinkOptions) {
    this.#options = options;
    this.#complaints = new Set(failed.problems.map(({ checker }) => checker));
    this.#best = { trial: { faults: failed.faults, workload: undefined }, verdict: failed };
  }

  get result(): Shrunk {
    return { ...this.#best, runs: this.#runs };
  }

  async dropFaults(): Promise<void> {
    const { faults, workload } = this.#best.trial;
    await fewestThat(faults, (part) => this.#fails({ faults: part, workload }), {
      asksMax: this.#options.runsMax - this.#runs,
    });
  }

  async simplifyWorkload(): Promise<void> {
    let isSimpler = true;
    while (isSimpler) {
      isSimpler = false;
      const { trial, verdict } = this.#best;
      for (const workload of simplerWorkloads(trial.workload ?? verdict.workload)) {
        if (this.#runs >= this.#options.runsMax) return;
        isSimpler = await this.#fails({ faults: trial.faults, workload });
        if (isSimpler) break;
      }
    }
  }

  async #fails(trial: Trial): Promise<boolean> {
    this.#runs += 1;
    const verdict = await this.#options.run(trial);
    const isSame = verdict.problems.some(({ checker }) => this.#complaints.has(checker));
    if (isSame) this.#best = { trial, verdict };
    return isSame;
  }
}
