import { attach } from '../../src/api/component-runtime.ts';
import type { FailReason } from '../../src/api/index.ts';
import {
  type ReplayableSource,
  ReplayableSpout,
  type ReplayOptions,
  type SourceAnswer,
} from '../../src/api/index.ts';
import type { ContextSource } from '../../src/api/topology-context.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import type { SettingKey } from '../../src/model/settings.ts';
import { ManualClock } from './manual-clock.ts';
import { aContext, RecordingCollector } from './recording-collector.ts';
import { settled } from './settled.ts';
import { anOutput, aSpout } from './topologies.ts';

export type NumberStreams = { readonly default: readonly ['number'] };
export type NumberAnswer = SourceAnswer<NumberStreams, number>;

export const FAILED: FailReason = {
  kind: 'explicit',
  component: undefined,
  task: undefined,
  error: { message: 'no', stack: 'no\n at bolt' },
};

/** The numbers from 1 to `count`; what was committed outlives the process. */
export class NumberStore {
  readonly count: number;
  committed: number | undefined;
  readonly commits: number[] = [];
  /** Not there any more. */
  readonly deleted = new Set<number>();

  constructor(count: number) {
    this.count = count;
  }
}

/** A source of numbers whose position is the number itself. */
export class NumberSource implements ReplayableSource<NumberStreams, number> {
  readonly #store: NumberStore;
  #last = 0;

  constructor(store: NumberStore) {
    this.#store = store;
  }

  committed(): number | undefined | Promise<number | undefined> {
    return this.#store.committed;
  }

  open(from: number | undefined): void {
    this.#last = from ?? 0;
  }

  next(): NumberAnswer | Promise<NumberAnswer> {
    if (this.#last === this.#store.count) return 'end';
    this.#last += 1;
    return { position: this.#last, values: { number: this.#last } };
  }

  commit(position: number): void | Promise<void> {
    this.#store.committed = position;
    this.#store.commits.push(position);
  }
}

/** The same, reading again what has failed. */
export class RereadingNumberSource extends NumberSource {
  readonly #kept: NumberStore;

  constructor(store: NumberStore) {
    super(store);
    this.#kept = store;
  }

  reread(position: number): Exclude<NumberAnswer, 'end'> {
    if (this.#kept.deleted.has(position)) return undefined;
    return { position, values: { number: position } };
  }
}

export function numbersFrom(
  source: () => ReplayableSource<NumberStreams, number>,
  options: ReplayOptions = {},
): ReplayableSpout<NumberStreams> {
  class Numbers extends ReplayableSpout.of({ default: ['number'] }, options) {
    override source(): ReplayableSource<NumberStreams, unknown> {
      return source();
    }
  }
  return new Numbers();
}

export interface ReplayedSpoutOptions {
  readonly config?: Partial<Record<SettingKey, string>>;
  readonly clock?: ManualClock;
  readonly seed?: number;
}

type AnyReplayableSpout = Pick<
  ReplayableSpout,
  'open' | 'nextTuple' | 'ack' | 'fail' | 'holdsMessages' | 'replay' | 'close'
>;

/** Calls a replayable spout as an instance does; the test decides what becomes of its tuples. */
export class ReplayedSpout {
  readonly clock: ManualClock;
  readonly collector = new RecordingCollector();
  readonly spout: AnyReplayableSpout;
  wakes = 0;
  readonly #source: Partial<ContextSource>;
  readonly #config: ReadonlyMap<string, string>;

  constructor(
    spout: AnyReplayableSpout,
    { config = {}, clock = new ManualClock(), seed = 1 }: ReplayedSpoutOptions = {},
  ) {
    this.spout = spout;
    this.clock = clock;
    this.#config = new Map(Object.entries(config));
    this.#source = {
      clock,
      random: createSeededRandom(seed),
      wake: () => {
        this.wakes += 1;
      },
    };
  }

  async open(): Promise<void> {
    const lines = aSpout('lines', { outputs: [anOutput(['number'])], config: this.#config });
    const context = aContext([lines], this.#source);
    attach(this.spout as never, this.collector, context);
    const opened = this.spout.open(context);
    await this.#passing(Promise.resolve(opened));
  }

  /** One call of `nextTuple`. */
  async step(): Promise<void> {
    await this.spout.nextTuple();
  }

  /** Calls `nextTuple` until it neither emits anything nor asks to be called, without time. */
  async drain(): Promise<void> {
    for (;;) {
      const before = this.collector.emitted.length + this.wakes;
      await this.step();
      await settled();
      if (this.collector.emitted.length + this.wakes === before) return;
    }
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }

  /** Takes the message ids of what was emitted since the last call. */
  take(): { readonly number: number; readonly id: unknown }[] {
    return this.collector.emitted
      .splice(0)
      .map(({ values, messageId }) => ({ number: Number(values[0]), id: messageId }));
  }

  /** Lets time go by until the promise settles. */
  async #passing<Result>(promise: Promise<Result>): Promise<Result> {
    const life = { isOver: false };
    const over = (): void => {
      life.isOver = true;
    };
    promise.then(over, over);
    await settled();
    while (!life.isOver) await this.advance(100);
    return promise;
  }
}

/** One that reads a source of numbers, and is open. */
export async function openedSpout(
  source: NumberSource,
  options: ReplayedSpoutOptions = {},
): Promise<ReplayedSpout> {
  const spout = new ReplayedSpout(
    numbersFrom(() => source),
    options,
  );
  await spout.open();
  return spout;
}
