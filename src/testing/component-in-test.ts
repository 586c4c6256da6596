import type { OUTPUTS } from '../api/component.ts';
import type { AnyComponent } from '../api/component-runtime.ts';
import type { ConfigInput } from '../api/config.ts';
import type { ShapeOf, StreamDeclarations, StreamOf } from '../api/streams.ts';
import { assertDefined } from '../base/assert.ts';
import { userError } from '../base/errors.ts';
import { DEFAULT_STREAM } from '../base/ids.ts';
import { didYouMean } from '../model/nearest.ts';
import type { TestUpdate } from './lone-plan.ts';
import type { LoneTask } from './lone-task.ts';
import type { LoggedLine } from './observed-log.ts';
import type { EmittedTuple, ObservedError } from './task-history.ts';
import type { RealAccess } from './user-code.ts';

/** What `testBolt` and `testSpout` can be told. */
export interface ComponentTestOptions {
  /** The name of the component in its topology, which it finds in its context. */
  readonly name?: string;
  /** Settings of the component, which it finds in its context. */
  readonly config?: ConfigInput;
  /** Settings of the topology. */
  readonly topologyConfig?: ConfigInput;
  /** How many tasks the component has; the one in test is one of them. 1 unless set. */
  readonly parallelism?: number;
  /** Which of the tasks is tested, from 0. */
  readonly taskIndex?: number;
  /**
   * By stream, the bolts that read it by direct grouping, with their numbers of tasks: those that
   * the component may name in `emitDirect`.
   */
  readonly directReaders?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Decides `Math.random` and all other chance. The same in every run unless set. */
  readonly seed?: number;
  /** What of the real machine the component may use; everything else is refused. */
  readonly allow?: readonly RealAccess[];
}

/** The tuples of a stream, by field. */
export type OutputOf<Outputs, Stream> = Stream extends keyof Outputs
  ? Readonly<ShapeOf<Outputs[Stream]>>
  : never;

/** One component that runs alone. What spouts and bolts have in common. */
export abstract class ComponentInTest<
  Made extends AnyComponent,
  Outputs extends StreamDeclarations = Made[typeof OUTPUTS],
> implements AsyncDisposable
{
  protected readonly task: LoneTask;
  readonly #streams: readonly string[];
  /** How many of the emitted tuples `takeOutputs` has given, by stream. */
  readonly #taken = new Map<string, number>();

  /** Made by `testBolt` and `testSpout` only. */
  protected constructor(task: LoneTask, streams: readonly string[]) {
    this.task = task;
    this.#streams = streams;
  }

  /** The object that runs; after a restart another one. */
  get component(): Made {
    return assertDefined(this.task.history.starts.at(-1), 'it has been started') as Made;
  }

  /** Simulated milliseconds since the start of the test. */
  get nowMs(): number {
    return this.task.nowMs;
  }

  /** True when all input has ended and the component has finished. */
  get hasEnded(): boolean {
    return this.task.hasEnded;
  }

  /** What the component has emitted to its default stream so far, in order. */
  outputs(): readonly OutputOf<Outputs, 'default'>[];
  /** What it has emitted to a stream. */
  outputs<Stream extends StreamOf<Outputs>>(stream: Stream): readonly OutputOf<Outputs, Stream>[];
  outputs(stream: string = DEFAULT_STREAM): readonly unknown[] {
    this.#checkStream(stream);
    return this.emitted.filter((tuple) => tuple.stream === stream).map(({ values }) => values);
  }

  /** As {@link outputs}, without what an earlier call has given. */
  takeOutputs(): readonly OutputOf<Outputs, 'default'>[];
  takeOutputs<Stream extends StreamOf<Outputs>>(
    stream: Stream,
  ): readonly OutputOf<Outputs, Stream>[];
  takeOutputs(stream: string = DEFAULT_STREAM): readonly unknown[] {
    const outputs = this.outputs(stream as never) as readonly unknown[];
    const taken = this.#taken.get(stream) ?? 0;
    this.#taken.set(stream, outputs.length);
    return outputs.slice(taken);
  }

  /** All that it has emitted, over all streams in order, with message ids, anchors and times. */
  get emitted(): readonly EmittedTuple[] {
    return this.task.history.emitted;
  }

  /** What its methods have thrown, and what it has reported, in order. */
  get errors(): readonly ObservedError[] {
    return this.task.history.errors;
  }

  /** What it, and the engine around it, has logged. */
  get logs(): readonly LoggedLine[] {
    return this.task.logs;
  }

  /**
   * Moves simulated time on: timers, intervals and waits of the component that become due run.
   *
   * @throws What has ended the instance, if something has.
   */
  async advance(ms: number): Promise<void> {
    await this.task.advance(ms);
  }

  /**
   * Calls a function as an event of the component's thread, in its simulated time: to settle a
   * promise that it waits for, or to call a method of its own.
   *
   * @returns What the function returns; a promise is awaited.
   */
  perform<Result>(call: () => Result | PromiseLike<Result>): Promise<Result> {
    return this.task.perform(call);
  }

  /** Ends the instance at once, as a crash does, and starts another one with a new component. */
  async restart(): Promise<void> {
    await this.task.start();
  }

  /**
   * Changes the plan of the topology as `heron update` does: how many tasks the component has,
   * which of them this one is, settings. Resolves when the component's `update` has returned. A
   * spout whose task is taken away is asked for nothing more, and ends when it holds no messages; a
   * bolt goes on until `finish()` says that nothing more comes.
   *
   * @example
   * ```ts
   * await spout.update({ parallelism: 4 });
   * await spout.update({ config: { 'orders.per-call': '10' } });
   * ```
   *
   * @throws EngineError INVALID_ARGUMENT for what a running topology refuses, and what `update`
   *   throws, which has ended the instance.
   */
  async update(change: TestUpdate): Promise<void> {
    await this.task.update(change);
  }

  /** Stops the component in an orderly way: calls its last method. Idempotent. */
  async close(): Promise<void> {
    await this.task.close();
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkStream(stream: string): void {
    if (this.#streams.includes(stream)) return;
    const { component } = this.task.history;
    throw userError(
      'UNKNOWN_STREAM',
      `'${component}' declares no stream '${stream}'${didYouMean(stream, this.#streams)}`,
    );
  }
}
