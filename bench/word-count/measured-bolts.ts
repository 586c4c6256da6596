/* The bolts of the job: what they measure goes to a file of each task (samples.ts reads them). */

import { createWriteStream, type WriteStream } from 'node:fs';
import { BasicBolt, type TopologyContext, type Tuple } from 'heron-ts';

const SAMPLE_MS = 250;

/** Microseconds of the machine's monotonic clock; exact as a double for 285 years of uptime. */
export function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Writes a line of figures for the runner every now and then. */
export class Sampler {
  executed = 0;
  readonly #file: WriteStream;

  constructor(
    context: TopologyContext,
    folder: string,
    extra: () => object = () => ({}),
    prefix = 'samples-',
  ) {
    this.#file = createWriteStream(`${folder}/${prefix}${context.taskId}.jsonl`);
    context.clock.every(SAMPLE_MS, () => {
      const sample = { atMicros: nowMicros(), executed: this.executed, ...extra() };
      this.#file.write(`${JSON.stringify(sample)}\n`);
    });
  }
}

export abstract class MeasuredBolt extends BasicBolt.of({}) {
  readonly #folder: string;
  protected sampler: Sampler | undefined;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override prepare(context: TopologyContext): void {
    this.sampler = new Sampler(context, this.#folder, () => this.extra());
  }

  protected extra(): object {
    return {};
  }
}

export class Count extends MeasuredBolt {
  readonly #counts = new Map<string, number>();

  override execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    (this.sampler as Sampler).executed += 1;
  }
}

/** Only sums lengths: shows the engine itself. */
export class Transport extends MeasuredBolt {
  #letters = 0;

  override execute(tuple: Tuple<{ word: string }>): void {
    this.#letters += tuple.get('word').length;
    (this.sampler as Sampler).executed += 1;
  }

  protected override extra(): object {
    return { letters: this.#letters };
  }
}
