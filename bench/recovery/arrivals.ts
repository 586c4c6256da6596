import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/* Reads what the job of this bench has written (job.ts). All times are monotonic microseconds. */

interface Gap {
  readonly from: number;
  readonly to: number;
}

interface Arrival {
  readonly via: number;
  readonly at: number;
  readonly emitted: number;
}

/** What is in the files just now. */
export class Arrivals {
  readonly #gaps: readonly Gap[];
  readonly #arrivals: readonly Arrival[];
  readonly #fails: readonly string[];

  constructor(folder: string) {
    const lines = linesOf(join(folder, 'sink')).map((line) => JSON.parse(line) as Gap | Arrival);
    this.#gaps = lines.filter((line) => 'from' in line);
    this.#arrivals = lines.filter((line) => 'via' in line);
    this.#fails = globSync('fails-*', { cwd: folder }).flatMap((name) =>
      linesOf(join(folder, name)),
    );
  }

  /** When the last word came; 0 before the first. */
  get lastAt(): number {
    return this.#arrivals.reduce((last, { at }) => Math.max(last, at), 0);
  }

  /**
   * When the first word had come that a task passed on and that was emitted after a moment; to
   * within 10 ms. Undefined when there is none yet.
   */
  firstBy(task: number, emittedAfter: number): number | undefined {
    return this.#arrivals.find(({ via, emitted }) => via === task && emitted > emittedAfter)?.at;
  }

  /** The longest time without a word that lies at least in part between two moments. */
  longestGapMs(from: number, to: number): number {
    const within = this.#gaps.filter((gap) => gap.to >= from && gap.from <= to);
    return within.reduce((longest, gap) => Math.max(longest, gap.to - gap.from), 0) / 1_000;
  }

  /** How many words have failed, by reason. */
  failsOf(kind?: string): number {
    return this.#fails.filter((line) => kind === undefined || line === kind).length;
  }
}

/** Whole ones: the last may be half of a line that is being written. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
