import type { Clock, Timer } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import type { Sample, SampledTuple, SampleWish } from '../../model/sample.ts';
import type { Roots } from '../../wire/fail-detail.ts';
import { sampledValue } from './sampled-value.ts';

const MS_PER_S = 1_000;
const HEX = 16;
const HEX_DIGITS = 8;

export interface TupleSamplerOptions {
  readonly wish: SampleWish;
  /** The streams of the component. */
  readonly outputs: readonly OutputStream[];
  readonly clock: Clock;
  /** Nothing more is to be taken; called once. */
  readonly onOver: () => void;
}

/** One emit. `roots` are read at once: they are filled anew for the next tuple. */
export interface EmittedTuple {
  readonly output: OutputStream;
  readonly values: readonly unknown[];
  readonly tasks: readonly number[] | undefined;
  readonly roots: Roots | undefined;
  readonly messageId: unknown;
}

/**
 * Takes the next tuples that a task emits, as they are in the moment of the emit, and is over when
 * it has enough of them, when its time is over, or when the task emits nothing any more.
 */
export class TupleSampler {
  readonly #options: TupleSamplerOptions;
  readonly #tuples: SampledTuple[] = [];
  readonly #timer: Timer;
  #isOver = false;

  /** @throws EngineError UNKNOWN_STREAM for a stream that the component does not have */
  constructor(options: TupleSamplerOptions) {
    const { wish, outputs, clock } = options;
    const { stream } = wish;
    if (stream !== undefined && !outputs.some((output) => output.stream === stream)) {
      const known = outputs.map((output) => `'${output.stream}'`).join(', ') || 'none';
      throw userError('UNKNOWN_STREAM', `there is no stream '${stream}', only ${known}`);
    }
    this.#options = options;
    this.#timer = clock.after(wish.seconds * MS_PER_S, () => this.end());
  }

  get sample(): Sample {
    const { outputs } = this.#options;
    const fields = Object.fromEntries(outputs.map(({ stream, fields: names }) => [stream, names]));
    return { tuples: this.#tuples, fields };
  }

  take({ output, values, tasks, roots, messageId }: EmittedTuple): void {
    const { wish, clock } = this.#options;
    if (wish.stream !== undefined && wish.stream !== output.stream) return;
    this.#tuples.push({
      stream: output.stream,
      values: values.map(sampledValue),
      ...(tasks !== undefined && { tasks: [...tasks] }),
      ...(messageId !== undefined && { messageId: textOf(messageId) }),
      ...(roots !== undefined && { roots: rootTexts(roots) }),
      atMs: clock.wallNow(),
    });
    if (this.#tuples.length >= wish.count) this.end();
  }

  /** Idempotent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.cancel();
    this.#options.onOver();
  }
}

function textOf(messageId: unknown): string {
  const value = sampledValue(messageId);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rootTexts(roots: Roots): readonly string[] {
  return Array.from({ length: roots.count }, (_, index) => {
    const [high, low] = [roots.keyHigh(index), roots.keyLow(index)].map((half) =>
      (half >>> 0).toString(HEX).padStart(HEX_DIGITS, '0'),
    );
    return `${roots.task(index)}:${high}${low}`;
  });
}
