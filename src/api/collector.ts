import type { GivenUpMessage } from './given-up-message.ts';
import type { AnyTuple } from './tuple.ts';

/**
 * Where a component's calls end up: the port between the API and the instance that runs it.
 * All calls come from the thread of the component.
 */
export interface Collector {
  /**
   * Takes one tuple. `streamIndex` is the stream's position in the component's declaration,
   * `values` are in the order of its fields and stay the caller's: they must be encoded before this
   * returns. `anchors` is undefined where the user gave none (a BasicBolt never gives any: the
   * engine anchors to the tuple that is being executed).
   */
  emit(
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;
  /** Takes one tuple for one task. */
  emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;
  ack(tuple: AnyTuple): void;
  fail(tuple: AnyTuple, reason: unknown): void;
  reportError(error: unknown): void;
  endOfInput(): void;
  /** The input of the task has ended: the spout has said so, or the topology is being drained. */
  readonly inputEnded: boolean;
  /**
   * Keeps a message that a spout has given up. Resolves when it would survive the end of the
   * process, or, with the setting `topology.dead.letters` at `none`, when it has been counted;
   * while that cannot be done the promise stays pending.
   */
  deadLetter(message: GivenUpMessage): Promise<void>;
}
