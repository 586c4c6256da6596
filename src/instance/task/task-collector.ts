import { isTick } from '../../api/tick.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import { AckedAtOnce } from './acked-at-once.ts';
import { type CollectorOptions, ComponentCollector } from './component-collector.ts';

/**
 * Where the calls of a component end up under at most once.
 *
 * K2. A message id is settled by being emitted: its `ack` is called when the component's current
 *     call is over, in the order of the emits. Acks and fails of bolts are counted and go nowhere.
 */
export class TaskCollector extends ComponentCollector {
  readonly messages: AckedAtOnce;

  constructor(options: CollectorOptions) {
    super(options);
    this.messages = new AckedAtOnce(options.counters.acked);
  }

  override emit(
    streamIndex: number,
    values: readonly unknown[],
    _anchors: unknown,
    messageId: unknown,
  ): void {
    const outcome = this.send(streamIndex, values, undefined, messageId);
    if (messageId !== undefined && outcome !== 'too-late') this.messages.add(messageId);
  }

  override emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    _anchors: unknown,
    messageId: unknown,
  ): void {
    const outcome = this.sendDirect(task, streamIndex, values, undefined, messageId);
    if (messageId !== undefined && outcome !== 'too-late') this.messages.add(messageId);
  }

  /** A tick is nothing that anybody waits for. */
  override ack(tuple: AnyTuple): void {
    if (isTick(tuple)) return;
    this.options.counters.acked.value += 1;
    if (this.isWatched) this.options.hooks.acked(tuple);
  }

  override fail(tuple: AnyTuple, reason: unknown): void {
    if (isTick(tuple)) return;
    this.options.counters.failed.value += 1;
    if (this.isWatched) this.options.hooks.failed(tuple, reason);
  }
}
