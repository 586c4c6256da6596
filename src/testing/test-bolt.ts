import type { AnyBolt } from '../api/component-runtime.ts';
import { StreamEmitter } from '../api/emitter.ts';
import { type FieldDeclaration, type StreamDeclarations, toOutputStreams } from '../api/streams.ts';
import type { FieldOf } from '../api/tuple.ts';
import type { InputOf } from '../api/wiring.ts';
import { userError } from '../base/errors.ts';
import { componentName, DEFAULT_STREAM } from '../base/ids.ts';
import { didYouMean } from '../model/nearest.ts';
import { ComponentInTest, type ComponentTestOptions } from './component-in-test.ts';
import { LoneTask } from './lone-task.ts';
import { boltAlone, DEFAULT_SOURCE } from './lone-topology.ts';
import type { FailedTuple, ReceivedTuple } from './task-history.ts';

/** Complains about fields that the bolt reads and the input does not have. */
type WithFields<Shape, Fields extends FieldDeclaration> =
  string extends FieldOf<Shape>
    ? unknown
    : Shape extends unknown
      ? [Exclude<FieldOf<Shape>, Fields[number]>] extends [never]
        ? unknown
        : {
            readonly 'the bolt reads fields that are missing here': Exclude<
              FieldOf<Shape>,
              Fields[number]
            >;
          }
      : never;

/** What {@link testBolt} can be told. */
export interface TestBoltOptions<Shape, Fields extends FieldDeclaration>
  extends ComponentTestOptions {
  /**
   * The fields of what the bolt is sent, in order. They are those of the default stream of a source
   * that is called `input`.
   */
  readonly input?: Fields & WithFields<Shape, Fields>;
  /** In place of `input`, for a bolt that reads several: the streams of each source, by name. */
  readonly inputs?: Readonly<Record<string, StreamDeclarations>>;
}

/** Where a tuple comes from. */
export interface SendOptions {
  /** One of `inputs`; needed where there are several. */
  readonly source?: string;
  /** The default stream unless set. */
  readonly stream?: string;
}

/** What a bolt can be sent: all that it reads, and perhaps more. */
export type SentValues<Shape> = Readonly<Shape> & Readonly<Record<string, unknown>>;

/**
 * Runs one bolt alone: the real instance around it, with simulated time, and the test in place of
 * everything upstream and downstream. Resolves when `prepare` has returned.
 *
 * @example
 * ```ts
 * test('counts words', async () => {
 *   await using bolt = await testBolt(() => new Count(), { input: ['word'] });
 *   await bolt.send({ word: 'cow' });
 *   await bolt.send({ word: 'cow' });
 *   await bolt.finish();
 *   assert.deepEqual(bolt.outputs(), [{ word: 'cow', count: 2 }]);
 * });
 * ```
 *
 * @throws EngineError INVALID_TOPOLOGY or INVALID_CONFIG as at a submit, and what `prepare` throws.
 */
export async function testBolt<
  Made extends AnyBolt,
  const Fields extends FieldDeclaration = FieldDeclaration,
>(
  factory: () => Made,
  options: TestBoltOptions<InputOf<Made>, Fields> = {},
): Promise<BoltInTest<Made>> {
  const { name = 'bolt', seed = 1, taskIndex = 0, allow = [] } = options;
  const inputs = inputsOf(options);
  const { built, streams } = boltAlone(name, factory, inputs, options);
  const task = new LoneTask({ built, component: name, taskIndex, seed, allow, isActive: true });
  const bolt = new BoltInTest<Made>(task, streams, inputs);
  await task.start();
  return bolt;
}

/** A bolt that runs alone; see {@link testBolt}. */
export class BoltInTest<Made extends AnyBolt> extends ComponentInTest<Made> {
  readonly #inputs: ReadonlyMap<string, StreamDeclarations>;
  #sent = 0;

  /** Made by {@link testBolt} only. */
  constructor(
    task: LoneTask,
    streams: readonly string[],
    inputs: ReadonlyMap<string, StreamDeclarations>,
  ) {
    super(task, streams);
    this.#inputs = inputs;
  }

  /**
   * Sends a tuple, and resolves when the bolt is done with it: a promise of `execute` is awaited,
   * for as much simulated time as it takes.
   *
   * @throws What has ended the instance: what the `execute` of a `Bolt` throws, for one. What that
   *   of a `BasicBolt` throws is found in {@link failed}.
   */
  async send(values: SentValues<InputOf<Made>>, from: SendOptions = {}): Promise<void> {
    this.feed(values, from);
    const target = this.#sent;
    const { history } = this.task;
    await this.task.reach(() => history.executed >= target, 'a promise of execute is pending');
  }

  /** Sends tuples one after the other. */
  async sendAll(
    tuples: Iterable<SentValues<InputOf<Made>>>,
    from: SendOptions = {},
  ): Promise<void> {
    for (const values of tuples) await this.send(values, from);
  }

  /** Hands over a tuple without running anything: {@link advance} does. */
  feed(
    values: SentValues<InputOf<Made>>,
    { source, stream = DEFAULT_STREAM }: SendOptions = {},
  ): void {
    const component = source ?? this.#onlySource();
    const streams = this.#inputs.get(component);
    if (streams === undefined) {
      const hint = didYouMean(component, this.#inputs.keys());
      throw userError('INVALID_ARGUMENT', `the bolt has no input '${component}'${hint}`);
    }
    const ordered = inOrder(component, streams, stream, values);
    this.task.feed({ component, stream }, 0, ordered);
    this.#sent += 1;
  }

  /** Says that all input has ended, and resolves when `finish` has returned. */
  async finish(): Promise<void> {
    this.task.endInput();
    await this.task.reach(() => this.task.hasEnded, 'a promise of finish is pending');
  }

  override async restart(): Promise<void> {
    await super.restart();
    this.#sent = this.task.history.executed;
  }

  /** What it was given, in order. */
  get received(): readonly ReceivedTuple<InputOf<Made>>[] {
    return this.task.history.received as unknown as readonly ReceivedTuple<InputOf<Made>>[];
  }

  /** What it is done with: acked by a `Bolt`, executed without an error by a `BasicBolt`. */
  get acked(): readonly ReceivedTuple<InputOf<Made>>[] {
    return this.task.history.acked as unknown as readonly ReceivedTuple<InputOf<Made>>[];
  }

  /** What it has failed, with the reasons. */
  get failed(): readonly FailedTuple<InputOf<Made>>[] {
    return this.task.history.failed as unknown as readonly FailedTuple<InputOf<Made>>[];
  }

  /** What it has received and neither acked nor failed. */
  get pending(): readonly ReceivedTuple<InputOf<Made>>[] {
    const { acked, failed } = this.task.history;
    const settled = new Set([...acked, ...failed].map(({ number }) => number));
    return this.received.filter(({ number }) => !settled.has(number));
  }

  #onlySource(): string {
    const [only, ...others] = this.#inputs.keys();
    if (only !== undefined && others.length === 0) return only;
    throw userError(
      'INVALID_ARGUMENT',
      only === undefined
        ? "say what the bolt reads: testBolt(() => …, { input: ['word'] })"
        : `say which input the tuple is from: send(…, { source: '${only}' })`,
    );
  }
}

/** The streams of each source, by name. */
function inputsOf({
  input,
  inputs = {},
}: {
  readonly input?: FieldDeclaration | undefined;
  readonly inputs?: Readonly<Record<string, StreamDeclarations>> | undefined;
}): ReadonlyMap<string, StreamDeclarations> {
  const own = input === undefined ? [] : [[DEFAULT_SOURCE, { default: input }] as const];
  return new Map<string, StreamDeclarations>([...own, ...Object.entries(inputs)]);
}

/** With the checks of an emit: a wrong field or stream is refused. */
function inOrder(
  source: string,
  streams: StreamDeclarations,
  stream: string,
  values: unknown,
): readonly unknown[] {
  let ordered: readonly unknown[] = [];
  const refuse = (): never => {
    throw userError('INVALID_ARGUMENT', 'nothing but emits is expected here');
  };
  new StreamEmitter(componentName(source), toOutputStreams(streams), {
    emit: (_stream, given) => (ordered = given),
    emitDirect: refuse,
    ack: refuse,
    fail: refuse,
    reportError: refuse,
    endOfInput: refuse,
    inputEnded: false,
    deadLetter: refuse,
  }).emitTo(stream, values, undefined, undefined);
  return ordered;
}
