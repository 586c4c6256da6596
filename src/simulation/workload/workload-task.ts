import type { TopologyContext } from '../../api/topology-context.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import type { Timer } from '../../base/clock.ts';
import { assertDefined } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';
import { isKey, keyValue } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { Life } from './life.ts';
import { chosenTasks } from './task-choice.ts';
import type { TaskThreads } from './task-threads.ts';
import type { StreamDescription, UserFault } from './workload-description.ts';

/** A setting of the user's own, which is changed while the topology runs. */
export const CHANGED_SETTING = 'workload.value';

/** What user code of a workload shares: the world outside of the topology. */
export interface WorkloadSurroundings {
  readonly ledger: Ledger;
  readonly threads: TaskThreads;
}

export interface WorkloadTaskOptions extends WorkloadSurroundings {
  /** The component's own streams, and those of all components by `component stream`. */
  readonly streams: readonly StreamDescription[];
  readonly allStreams: ReadonlyMap<string, StreamDescription>;
  readonly faults: readonly UserFault[];
  /** By `component stream`: the bolt that reads it by direct grouping. */
  readonly directReaders: ReadonlyMap<string, string>;
  /** Messages that a spout task may have pending; undefined at most once. */
  readonly pendingMax: number | undefined;
  readonly send: (sent: SentTuple) => void;
}

/** A tuple that goes out. */
export interface SentTuple {
  readonly stream: string;
  readonly values: readonly unknown[];
  /** Its number. */
  readonly tuple: number;
  /** The tuples that it descends from, for a bolt that anchors by hand. */
  readonly parents: readonly AnyTuple[];
  /** Where it goes, if its stream is read by direct grouping. */
  readonly task: TaskId | undefined;
}

/** The fault that a workload asks for: not one of the engine. */
export class IntendedError extends Error {
  override readonly name = 'IntendedError';
}

/** What spouts and bolts of a workload have in common: numbers, keys, payloads and faults. */
export class WorkloadTask {
  readonly #options: WorkloadTaskOptions;
  readonly #timers = new Set<Timer>();
  #context: TopologyContext | undefined;
  #life: Life | undefined;
  #faults: readonly UserFault[] = [];

  constructor(options: WorkloadTaskOptions) {
    this.#options = options;
  }

  get context(): TopologyContext {
    return assertDefined(this.#context, 'the component is open');
  }

  get life(): Life {
    return assertDefined(this.#life, 'the component is open');
  }

  get ledger(): Ledger {
    return this.#options.ledger;
  }

  open(context: TopologyContext): void {
    const { ledger, faults } = this.#options;
    this.#context = context;
    this.#life = ledger.open(context.taskId, context.componentName, context.taskIndex);
    this.#faults = faults.filter(({ taskIndex }) => taskIndex === context.taskIndex);
    this.look();
    this.#failOnce('throw-at-start');
  }

  /** The component is told of another plan. */
  look(): void {
    const { componentName, parallelism, isRetiring, config } = this.context;
    this.ledger.see(this.life, {
      tasks: this.context.componentTasks(componentName),
      parallelism,
      isRetiring,
      value: config.text(CHANGED_SETTING),
    });
  }

  /** Before each piece of input: does what was planned for this call. */
  begin({ isSurvived }: { readonly isSurvived: boolean }): void {
    const { ledger, threads } = this.#options;
    const call = ledger.count('call', this.life.task);
    for (const fault of this.#faults) {
      if (fault.kind === 'hang' && fault.atCall === call) {
        ledger.hang(this.life, fault.forMs);
        threads.spend(this.life.task, fault.forMs);
      } else if (fault.kind === 'throw' && fault.atCall === call) {
        if (!isSurvived) ledger.throws(this.life);
        throw new IntendedError(`call ${call} of task ${this.life.task} fails`);
      }
    }
  }

  spend(ms: number): void {
    this.#options.threads.spend(this.life.task, ms);
  }

  /**
   * One tuple to one of the streams; its keys follow from how many went before it. Returns its
   * number.
   */
  emit(stream: StreamDescription, parents: readonly AnyTuple[] = []): number {
    const { ledger, send } = this.#options;
    const turn = ledger.count(`to ${stream.name}`, this.life.task);
    const first = spread(turn, stream.keys);
    const second = spread(turn + this.life.task * 7, stream.keys);
    const tuple = ledger.emit(this.life, stream.name, first, second);
    const payload = new Uint8Array(payloadBytes(stream, tuple));
    if (payload.length > 0) payload[payload.length - 1] = tuple & 0xff;
    const values = [tuple, keyValue(first, turn), keyValue(second, turn), payload];
    ledger.trees.anchor(tuple, parents.map(numberOf));
    try {
      send({ stream: stream.name, values, tuple, parents, task: this.#directTask(stream, tuple) });
    } catch (error) {
      ledger.refuse(tuple);
      throw error;
    }
    return tuple;
  }

  emitToAll(times: number, parents: readonly AnyTuple[] = []): void {
    for (let time = 0; time < times; time += 1) {
      for (const stream of this.#options.streams) this.emit(stream, parents);
    }
  }

  /** Writes down that a tuple was executed, and compares its content with what was emitted. */
  execute(received: AnyTuple): void {
    const { ledger, allStreams } = this.#options;
    const [tuple, first, second, payload] = received.values;
    if (typeof tuple !== 'number' || !(payload instanceof Uint8Array)) {
      ledger.misread(`task ${this.life.task} got a tuple without number or payload`);
      return;
    }
    ledger.execute(this.life, tuple);
    const emitted = ledger.emitted(tuple);
    if (emitted === undefined) return; // A tuple that nobody emitted: a checker tells.
    const stream = allStreams.get(`${received.sourceComponent} ${received.sourceStream}`);
    const isIntact =
      emitted.stream === received.sourceStream &&
      ledger.life(emitted.life).task === received.sourceTask &&
      isKey(first, emitted.firstKey) &&
      isKey(second, emitted.secondKey) &&
      stream !== undefined &&
      payload.length === payloadBytes(stream, tuple) &&
      (payload.length === 0 || payload.at(-1) === (tuple & 0xff));
    if (!isIntact) ledger.misread(`tuple ${tuple} came to task ${this.life.task} changed`);
  }

  /** A timer that `close` cancels. */
  after(delayMs: number, call: () => void): void {
    const timer = this.context.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      call();
    });
    this.#timers.add(timer);
  }

  cancelTimers(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  beginFinish(): void {
    this.ledger.beginFinish(this.life);
    this.#failOnce('throw-in-finish');
  }

  end(): void {
    this.ledger.end(this.life);
  }

  #directTask({ name }: StreamDescription, tuple: number): TaskId | undefined {
    const bolt = this.#options.directReaders.get(`${this.context.componentName} ${name}`);
    if (bolt === undefined) return undefined;
    return chosenTasks(tuple, this.context.componentTasks(bolt))[0];
  }

  #failOnce(kind: UserFault['kind']): void {
    if (!this.#faults.some((fault) => fault.kind === kind)) return;
    if (this.ledger.count(kind, this.life.task) > 1) return;
    this.ledger.throws(this.life);
    throw new IntendedError(`task ${this.life.task}: ${kind}`);
  }
}

/** The number of a tuple of a workload. */
export function numberOf({ values }: AnyTuple): number {
  return Number(values[0]);
}

/** The size follows from the tuple's number, so that the receiver knows it too. */
function payloadBytes(stream: StreamDescription, tuple: number): number {
  return stream.payloadBytes[tuple % stream.payloadBytes.length] ?? 0;
}

/** The keys in an order that shows no pattern; a third of all tuples have the first key. */
function spread(turn: number, keys: number): number {
  if (turn % 3 === 0) return 0;
  return (Math.imul(turn, 0x9e37_79b1) >>> 8) % Math.max(1, keys);
}
