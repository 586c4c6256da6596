import { userError } from '../base/errors.ts';
import { DEFAULT_STREAM } from '../base/ids.ts';
import { randomHex } from '../base/random.ts';
import { CountMetric } from '../metrics/count-metric.ts';
import type { FailReason } from '../model/fail-reason.ts';
import { committedPosition } from './committed-position.ts';
import { Committer } from './committer.ts';
import { declareComponent, EMITTER, OUTPUTS, REPLAYS } from './component.ts';
import { DEAD_LETTER_STREAM, type DeadLetterTuple } from './dead-letter-stream.ts';
import type { LetterToReplay } from './letter-to-replay.ts';
import {
  type AnySource,
  MessageReplay,
  type ReplayStep,
  unreadableReason,
} from './message-replay.ts';
import type { SourceFor } from './replayable-source.ts';
import { ReplayedMessage } from './replayed-message.ts';
import { RetryPolicy } from './retry-policy.ts';
import { Spout } from './spout.ts';
import type { NoStreams, StreamDeclarations } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/** How a {@link ReplayableSpout} goes about it. */
export interface ReplayOptions {
  /** The shortest time between two commits, in milliseconds: 1,000 unless given. */
  readonly commitIntervalMs?: number;
  /**
   * How many messages may lie between the first that is not settled and the last that was read,
   * settled or not: 100,000 unless given. With so many nothing new is read, so that one message
   * that fails again and again bounds what is kept and what a restart repeats. It should be above
   * `topology.max.spout.pending`.
   */
  readonly unsettledMax?: number;
}

const DEFAULTS: Required<ReplayOptions> = { commitIntervalMs: 1_000, unsettledMax: 100_000 };

/** On the prototype of the class that `of` made. */
const REPLAY_OPTIONS: unique symbol = Symbol('replay options');
const LETTER_ID_BYTES = 8;
/** Between two commits while another task waits for what they commit. */
const HAND_OVER_MS = 50;

/**
 * The base of spouts whose source can be read again. With `topology.reliability.mode` at
 * `ATLEAST_ONCE` no message of the source is lost: what fails is emitted again after a growing
 * pause (`topology.retry.*`, which may be set by component), and becomes a dead letter when its
 * retries are used up; after a restart the spout goes on behind the last position up to which
 * everything is settled.
 *
 * The author gives the source, see `ReplayableSource`; the spout does the bookkeeping:
 *
 * - A message is settled when it has been acked, is a dead letter that would survive a crash, or is
 *   lost at its source. The committed position never passes one that is not.
 * - What fails may do so in any order and number. Of each message that is not settled the position
 *   is kept, and its values where the source cannot read it again.
 * - The end of the source becomes `endOfInput()` when everything is settled and committed.
 * - Where the spout declares the stream {@link DEAD_LETTER_STREAM}, its letters are emitted there.
 *   They are tracked like any message, and settle theirs when they are acked; one that fails more
 *   often than a message may goes where letters go otherwise.
 *
 * A method that is overridden has to call that of this class.
 *
 * @example
 * ```ts
 * class Orders extends ReplayableSpout.of({ default: ['order'] }) {
 *   override source(context: TopologyContext) {
 *     return new OrderQueue(context.taskIndex);
 *   }
 * }
 * ```
 */
export abstract class ReplayableSpout<
  Outputs extends StreamDeclarations = NoStreams,
> extends Spout<Outputs> {
  /** For the engine. */
  declare readonly [REPLAY_OPTIONS]: Required<ReplayOptions>;
  #opened: Opened | undefined;

  /** The base class of a replayable spout that emits to these streams. */
  static override of<const Outputs extends StreamDeclarations>(
    outputs: Outputs,
    options: ReplayOptions = {},
  ): abstract new () => ReplayableSpout<Outputs> {
    abstract class DeclaredSpout extends ReplayableSpout<Outputs> {}
    declareComponent(DeclaredSpout.prototype, { outputs });
    const value = { ...DEFAULTS, ...options };
    Object.defineProperty(DeclaredSpout.prototype, REPLAY_OPTIONS, { value });
    return DeclaredSpout;
  }

  /** Makes the source of this task, without opening it. Called once, before everything else. */
  abstract source(context: TopologyContext): SourceFor<Outputs>;

  /**
   * Whether a message that has failed for this reason may be emitted again, as long as its retries
   * last; otherwise it is a dead letter at once. True unless overridden.
   */
  isRetryable(_reason: FailReason, _message: ReplayedMessage): boolean {
    return true;
  }

  /**
   * Opens the source behind its committed position.
   *
   * @throws EngineError COMPONENT_FAILED when the position cannot be found out after all, and what
   *   the source's `open` throws.
   */
  override async open(context: TopologyContext): Promise<void> {
    // What the values of a stream are is nothing to the bookkeeping.
    const source = this.source(context) as unknown as AnySource;
    const { clock } = context;
    const { commitIntervalMs } = this[REPLAY_OPTIONS];
    const committer = new Committer<unknown>({
      commit: (position) => source.commit(position),
      clock,
      intervalMs: () => (source.isHandingOver === true ? HAND_OVER_MS : commitIntervalMs),
      onFailure: (cause) => this.#reportCommit(cause),
      onClean: () => context.wake(),
    });
    this.#opened = { source, committer, replay: this.#newReplay(context, source, committer) };
    await source.open(await committedPosition(source, context));
  }

  /** Tells the source, which may have something to hand over. */
  override async update(context: TopologyContext): Promise<void> {
    const { source, committer } = this.#whatIsOpen;
    await source.update?.(context);
    // The commit that waits for its time is the one that another task waits for.
    if (source.isHandingOver === true) void committer.flush();
  }

  override nextTuple(): unknown {
    const { replay } = this.#whatIsOpen;
    const step = replay.step(!this[EMITTER].collector.inputEnded);
    if (step instanceof Promise) return step.then((taken) => this.#endAfter(taken));
    this.#endAfter(step);
    return undefined;
  }

  override ack(messageId: unknown): void | Promise<void> {
    if (messageId instanceof ReplayedMessage) this.#whatIsOpen.replay.acked(messageId);
  }

  override fail(messageId: unknown, reason: FailReason): void | Promise<void> {
    if (messageId instanceof ReplayedMessage) this.#whatIsOpen.replay.failed(messageId, reason);
  }

  override holdsMessages(): boolean {
    return this.#whatIsOpen.replay.unsettled > 0;
  }

  override replay(letter: LetterToReplay): void | Promise<void> {
    this.#whatIsOpen.replay.replay(letter);
  }

  /** Commits what is settled, and closes the source. */
  override async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    opened.replay.close();
    await opened.committer.flush();
    opened.committer.close();
    await opened.source.close?.();
  }

  get #whatIsOpen(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const text = 'a ReplayableSpout that overrides open must call super.open(context)';
    throw userError('COMPONENT_FAILED', text);
  }

  #endAfter(step: ReplayStep): void {
    if (step === 'ended' && !this[EMITTER].collector.inputEnded) this.endOfInput();
  }

  #newReplay(
    context: TopologyContext,
    source: AnySource,
    committer: Committer<unknown>,
  ): MessageReplay {
    const retries = context.registerMetric('__retry-count', new CountMetric());
    const lost = context.registerMetric('__lost-at-source-count', new CountMetric());
    const { clock, componentName, taskId } = context;
    return new MessageReplay({
      source,
      clock,
      committer,
      policy: RetryPolicy.of(context.config, context.random),
      unsettledMax: this[REPLAY_OPTIONS].unsettledMax,
      wake: () => context.wake(),
      emit: (stream, values, message) => this.#emit(stream, values, message),
      deadLetter: (message) => this.#giveUp(message, false),
      emitLetter:
        DEAD_LETTER_STREAM in this[OUTPUTS]
          ? (message) => this.#emitLetter(message, context)
          : undefined,
      unreadable: (error) => unreadableReason(error, componentName, taskId),
      isRetryable: (reason, message) => this.isRetryable(reason, message),
      reportError: (error) => this.reportError(error),
      onRetry: () => retries.incr(),
      onLostAtSource: () => lost.incr(),
    });
  }

  #emit(stream: string | undefined, values: unknown, message: ReplayedMessage): void {
    this[EMITTER].emitTo(stream ?? DEFAULT_STREAM, values, undefined, message);
  }

  #giveUp(message: ReplayedMessage, isEmitted: boolean): Promise<void> {
    const { stream, values, attempts, isUnreadable } = message;
    return this[EMITTER].giveUp(isUnreadable ? undefined : (stream ?? DEFAULT_STREAM), values, {
      position: String(message),
      messageId: undefined,
      attempts,
      reason: reasonOf(message),
      isEmitted,
    });
  }

  #emitLetter(message: ReplayedMessage, { clock, random, taskId }: TopologyContext): void {
    const { stream, values, attempts } = message;
    const { kind, component, task, message: text, stack } = reasonOf(message);
    const letter: DeadLetterTuple = {
      id: `${taskId}-${randomHex(random, LETTER_ID_BYTES)}`,
      atMs: clock.wallNow(),
      stream: stream ?? DEFAULT_STREAM,
      values,
      position: String(message),
      attempts,
      kind,
      component: component ?? null,
      task: task ?? null,
      message: text ?? null,
      stack: stack ?? null,
    };
    this[EMITTER].emitTo(DEAD_LETTER_STREAM, letter, undefined, message);
    // One that is emitted again is still the same letter.
    if (message.letterAttempts === 1) void this.#giveUp(message, true);
  }

  #reportCommit(cause: unknown): void {
    const text = 'the source cannot be committed; the newest position is tried again';
    this.reportError(userError('COMPONENT_FAILED', text, cause));
  }
}

Object.defineProperty(ReplayableSpout.prototype, REPLAY_OPTIONS, { value: DEFAULTS });
Object.defineProperty(ReplayableSpout.prototype, REPLAYS, { value: true });

interface Opened {
  readonly source: AnySource;
  readonly committer: Committer<unknown>;
  readonly replay: MessageReplay;
}

function reasonOf({ reason }: ReplayedMessage): NonNullable<ReplayedMessage['reason']> {
  if (reason !== undefined) return reason;
  throw userError('COMPONENT_FAILED', 'a message that has not failed was given up');
}
