import { type AnyComponent, isSpout } from '../api/component-runtime.ts';
import type { FailReason } from '../model/fail-reason.ts';
import type { GivenUpMessage } from '../api/given-up-message.ts';
import type { TopologyContext } from '../api/topology-context.ts';
import type { AnyTuple } from '../api/tuple.ts';

/** A tuple that a component has emitted. */
export interface EmittedTuple<Values = Readonly<Record<string, unknown>>> {
  readonly stream: string;
  /** By field, as a receiver gets them. */
  readonly values: Values;
  /** The message id that a spout gave; undefined without one. */
  readonly messageId: unknown;
  /** The task that `emitDirect` named; undefined for an `emit`. */
  readonly toTask: number | undefined;
  /** The tuples that a `Bolt` anchored it to. */
  readonly anchors: readonly AnyTuple[];
  /** Which of the component's tasks emitted it, from 0. */
  readonly taskIndex: number;
  /** Simulated milliseconds since the start of the run. */
  readonly atMs: number;
}

/** A tuple that a bolt was given. */
export interface ReceivedTuple<Values = Readonly<Record<string, unknown>>> {
  /** Counts what this task has received, from 0. */
  readonly number: number;
  readonly source: string;
  readonly stream: string;
  readonly values: Values;
  /** Which of the bolt's tasks received it, from 0. */
  readonly taskIndex: number;
  /** Simulated milliseconds since the start of the run. */
  readonly atMs: number;
}

/** A tuple that was not processed. */
export interface FailedTuple<Values = Readonly<Record<string, unknown>>>
  extends ReceivedTuple<Values> {
  /** What `execute` threw, or what was given to `fail`. */
  readonly reason: unknown;
}

/** What a spout was told of a tuple that it had emitted with a message id. */
export interface SettledMessage {
  readonly messageId: unknown;
  /** Undefined for an `ack`. */
  readonly reason: FailReason | undefined;
  readonly taskIndex: number;
  /** Simulated milliseconds since the start of the run. */
  readonly atMs: number;
}

/** Something that a component threw or reported. */
export interface ObservedError {
  readonly component: string;
  readonly taskIndex: number;
  /** The method that threw, or `reportError`. */
  readonly method: string;
  readonly error: unknown;
  /** Simulated milliseconds since the start of the run. */
  readonly atMs: number;
}

/** What one task has done, over all of its starts. */
export class TaskHistory {
  readonly component: string;
  readonly taskIndex: number;
  readonly emitted: EmittedTuple[] = [];
  readonly received: ReceivedTuple[] = [];
  readonly acked: ReceivedTuple[] = [];
  readonly failed: FailedTuple[] = [];
  readonly errors: ObservedError[] = [];
  readonly settled: SettledMessage[] = [];
  /** What a spout has given up, in the order of giving up. */
  readonly deadLetters: GivenUpMessage[] = [];
  /** The objects that the factory made, the one that runs last. */
  readonly starts: AnyComponent[] = [];
  /** `open` or `prepare` of some start has returned. */
  isOpen = false;
  /** The spout has said that nothing more will come. */
  hasEndedInput = false;
  /** Of the last start. */
  context: TopologyContext | undefined;
  /** How many `execute` calls are over, whatever became of them. */
  executed = 0;
  /** How many calls of the component are under way: 1 while a promise of it is pending. */
  callsUnderWay = 0;

  readonly #calls = new Map<string, number>();
  /** The method whose call is under way. */
  #running: string | undefined;

  constructor(component: string, taskIndex: number) {
    this.component = component;
    this.taskIndex = taskIndex;
  }

  begin(method: string): void {
    this.callsUnderWay += 1;
    this.#running = method;
    this.#calls.set(method, this.callsOf(method) + 1);
  }

  end(method: string, failure: { readonly error: unknown } | undefined): void {
    this.callsUnderWay -= 1;
    this.#running = undefined;
    const isFirst = method === 'open' || method === 'prepare';
    if (isFirst && failure === undefined) this.isOpen = true;
    if (method === 'finish' && failure === undefined) this.hasEndedInput = true;
  }

  /** A new process begins: calls of the one before are no more. */
  noteStart(component: AnyComponent): void {
    this.starts.push(component);
    this.callsUnderWay = 0;
    this.#running = undefined;
  }

  /** What it does instead of having ended; undefined when it has. */
  describe(isAlive: boolean): string | undefined {
    if (this.hasEndedInput) return undefined;
    if (!isAlive) return 'is not running';
    if (this.#running !== undefined) return `waits for a promise of ${this.#running}`;
    const latest = this.starts.at(-1);
    if (latest === undefined || !this.isOpen) return 'has not been opened';
    return isSpout(latest) ? 'has not said endOfInput()' : 'waits for the end of its input';
  }

  /** How many calls of a method have begun. */
  callsOf(method: string): number {
    return this.#calls.get(method) ?? 0;
  }
}
