import type { AnyBolt, AnySpout } from '../../api/component-runtime.ts';
import type { TaskHook } from '../../api/topology-context.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import type { StreamName, TaskId } from '../../base/ids.ts';
import type { FailReason } from '../../model/fail-reason.ts';
import type { SpoutMessages } from './spout-messages.ts';
import { isPromise } from './user-calls.ts';

/** What the loop of a bolt calls. */
export type BoltCalls = Pick<AnyBolt, 'execute' | 'finish' | 'cleanup'>;
/** What the loop of a spout calls. */
export type SpoutCalls = Pick<
  AnySpout,
  'nextTuple' | 'activate' | 'deactivate' | 'ack' | 'fail' | 'holdsMessages' | 'close'
>;

/**
 * The hooks of one task.
 *
 * H1. A task without hooks pays nothing for them: components are called through an observer only
 *     where there are some when the run begins.
 * H2. Ticks are no tuples for a hook: they do not come through the loop.
 */
export class TaskHooks {
  readonly #task: TaskId;
  readonly #clock: Clock;
  readonly #hooks: TaskHook[] = [];
  /** When a tuple was handed to `execute`. */
  readonly #startedAt = new WeakMap<AnyTuple, number>();

  constructor(task: TaskId, clock: Clock) {
    this.#task = task;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0;
  }

  /** Runs the author's code. */
  add(hook: TaskHook, context: TopologyContext): void {
    hook.prepare?.(context);
    this.#hooks.push(hook);
  }

  emitted(
    stream: StreamName,
    values: readonly unknown[],
    targetTasks: readonly number[] | undefined,
  ): void {
    for (const hook of this.#hooks) hook.emit?.({ stream, values, task: this.#task, targetTasks });
  }

  acked(tuple: AnyTuple): void {
    const processLatencyMs = this.#sinceStart(tuple);
    for (const hook of this.#hooks) hook.boltAck?.({ tuple, task: this.#task, processLatencyMs });
  }

  failed(tuple: AnyTuple, reason: unknown): void {
    const failLatencyMs = this.#sinceStart(tuple);
    for (const hook of this.#hooks) {
      hook.boltFail?.({ tuple, task: this.#task, reason, failLatencyMs });
    }
  }

  cleanup(): void {
    for (const hook of this.#hooks) hook.cleanup?.();
  }

  /** The bolt as the loop is to call it. `acksItself`: a tuple is done when `execute` is. */
  aroundBolt(bolt: AnyBolt, acksItself: boolean): BoltCalls {
    if (this.isEmpty) return bolt;
    return {
      execute: (tuple) => this.#execute(bolt, tuple, acksItself),
      finish: () => bolt.finish(),
      cleanup: () => bolt.cleanup(),
    };
  }

  /** The spout as the loop is to call it; `messages` stands at the message that it tells of. */
  aroundSpout(spout: AnySpout, messages: Pick<SpoutMessages, 'latencyMs'>): SpoutCalls {
    if (this.isEmpty) return spout;
    return {
      nextTuple: () => spout.nextTuple(),
      activate: () => spout.activate(),
      deactivate: () => spout.deactivate(),
      ack: (messageId) => this.#ack(spout, messageId, messages.latencyMs),
      fail: (messageId, reason) => this.#fail(spout, messageId, reason, messages.latencyMs),
      holdsMessages: () => spout.holdsMessages(),
      close: () => spout.close(),
    };
  }

  #execute(bolt: AnyBolt, tuple: AnyTuple, acksItself: boolean): void | Promise<void> {
    this.#startedAt.set(tuple, this.#clock.now());
    const onOver = (): void => {
      this.#executed(tuple);
      if (acksItself) this.acked(tuple);
    };
    const onFailure = (error: unknown): never => {
      this.#executed(tuple);
      if (acksItself) this.failed(tuple, error);
      throw error;
    };
    let returned: void | Promise<void>;
    try {
      returned = bolt.execute(tuple);
    } catch (error) {
      return onFailure(error);
    }
    if (isPromise(returned)) return returned.then(onOver, onFailure);
    onOver();
  }

  #executed(tuple: AnyTuple): void {
    const executeLatencyMs = this.#sinceStart(tuple);
    for (const hook of this.#hooks) {
      hook.boltExecute?.({ tuple, task: this.#task, executeLatencyMs });
    }
  }

  #ack(spout: AnySpout, messageId: unknown, completeLatencyMs: number): void | Promise<void> {
    const onOver = (): void => {
      for (const hook of this.#hooks) {
        hook.spoutAck?.({ messageId, task: this.#task, completeLatencyMs });
      }
    };
    const returned = spout.ack(messageId);
    if (isPromise(returned)) return returned.then(onOver);
    onOver();
  }

  #fail(
    spout: AnySpout,
    messageId: unknown,
    reason: FailReason,
    failLatencyMs: number,
  ): void | Promise<void> {
    const onOver = (): void => {
      for (const hook of this.#hooks) {
        hook.spoutFail?.({ messageId, reason, task: this.#task, failLatencyMs });
      }
    };
    const returned = spout.fail(messageId, reason);
    if (isPromise(returned)) return returned.then(onOver);
    onOver();
  }

  #sinceStart(tuple: AnyTuple): number {
    const now = this.#clock.now();
    return now - (this.#startedAt.get(tuple) ?? now);
  }
}
