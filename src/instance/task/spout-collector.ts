import type { AnyTuple } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import type { TaskId } from '../../base/ids.ts';
import type { AckedAtOnce } from './acked-at-once.ts';
import { AnchorRoots } from './anchor-roots.ts';
import { type CollectorOptions, ComponentCollector } from './component-collector.ts';
import type { PendingMessages } from './pending-messages.ts';

export interface SpoutCollectorOptions extends CollectorOptions {
  readonly task: TaskId;
  readonly clock: Clock;
  readonly pending: PendingMessages;
  readonly atOnce: AckedAtOnce;
}

/**
 * Where the calls of a spout end up under at least once.
 *
 * A1. A tuple with a message id is the root of a tree of its own; it is pending from the moment at
 *     which it has been sent. One without an id is not tracked.
 * A2. A message for a stream that nobody reads is acked at once, after the current call.
 */
export class SpoutCollector extends ComponentCollector {
  readonly #task: TaskId;
  readonly #clock: Clock;
  readonly #pending: PendingMessages;
  readonly #atOnce: AckedAtOnce;
  /** One root, filled anew for each message. */
  readonly #root = new AnchorRoots();

  constructor(options: SpoutCollectorOptions) {
    super(options);
    this.#task = options.task;
    this.#clock = options.clock;
    this.#pending = options.pending;
    this.#atOnce = options.atOnce;
  }

  override emit(
    streamIndex: number,
    values: readonly unknown[],
    _anchors: unknown,
    messageId: unknown,
  ): void {
    const root = messageId === undefined ? undefined : this.#nextRoot();
    const outcome = this.send(streamIndex, values, root, messageId);
    if (messageId === undefined || outcome === 'too-late') return;
    if (outcome === 'unread') this.#atOnce.add(messageId);
    else this.#pending.add(messageId, streamIndex, this.#clock.now());
  }

  override emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    _anchors: unknown,
    messageId: unknown,
  ): void {
    const root = messageId === undefined ? undefined : this.#nextRoot();
    const outcome = this.sendDirect(task, streamIndex, values, root, messageId);
    if (messageId === undefined || outcome === 'too-late') return;
    this.#pending.add(messageId, streamIndex, this.#clock.now());
  }

  /** Spouts receive nothing that they could ack. */
  override ack(_tuple: AnyTuple): void {}

  override fail(_tuple: AnyTuple): void {}

  #nextRoot(): AnchorRoots {
    const { nextLow, nextHigh } = this.#pending;
    this.#root.clear();
    this.#root.add(this.#task, nextLow, nextHigh);
    return this.#root;
  }
}
