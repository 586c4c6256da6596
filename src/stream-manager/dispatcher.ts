import type { TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { Destinations } from '../routing/destinations.ts';
import type { RoutedStream, StreamRouter } from '../routing/stream-router.ts';
import type { StreamHeader } from '../wire/stream-header.ts';
import type { TupleSetReader } from '../wire/tuple-set-reader.ts';
import type { AckPath } from './ack-path.ts';
import { BATCH_BYTES, type BatchPool } from './batch-pool.ts';
import { Lane } from './lane.ts';
import type { LocalSource } from './local-source.ts';
import type { Outbox } from './outbox.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

export interface DispatcherOptions {
  /** The first one; `update` takes those that follow. */
  readonly router: StreamRouter;
  /** One for every task of the plan that the router is made from. */
  readonly outboxes: ReadonlyMap<TaskId, Outbox>;
  readonly pool: BatchPool;
  readonly traffic: InstanceTraffic;
  readonly logger: Logger;
  /** With at least once: tuples that belong to trees get keys, and are accounted for. */
  readonly acks?: AckPath | undefined;
  /** `topology.droptuples.upon.backpressure` */
  readonly dropsWhenBehind?: boolean;
}

/**
 * Takes the tuples of local sources apart by destination: each one is routed and copied, still
 * encoded, into the lane from its source to each destination. The hottest loop of a stream manager
 * (bench/route.ts).
 *
 * T1. A tuple is copied to all of its destinations, or to none, before the account of its trees
 *     hears of it: nobody can have acked a copy by then.
 * T2. A tuple that names a task that gets none (any more) is dropped for that task, and counted;
 *     its trees fail, for whoever chose the task meant it to be there.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #destinations = new Destinations();
  /** By source task, then by destination task. */
  readonly #lanes = new Map<TaskId, (Lane | undefined)[]>();
  readonly #reported = new Set<StreamHeader>();
  readonly #acks: AckPath | undefined;
  readonly #dropsWhenBehind: boolean;
  #router: StreamRouter;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#acks = options.acks;
    this.#dropsWhenBehind = options.dropsWhenBehind === true;
    this.#router = options.router;
  }

  /** Routes by another plan from now on, in which these tasks are no more. */
  update(router: StreamRouter, gone: readonly TaskId[]): void {
    this.#router = router;
    for (const task of gone) {
      this.#lanes.delete(task);
      for (const lanes of this.#lanes.values()) {
        if (lanes[task] !== undefined) lanes[task] = undefined;
      }
    }
  }

  /** Routes every tuple of the set that the reader has open. Returns how many there were. */
  dispatch(source: LocalSource, set: TupleSetReader, header: StreamHeader): number {
    const stream = this.#router.streamOf(header);
    if (stream === undefined) return this.#ignore(source, set, header);
    if (stream.fixedTasks !== undefined) return this.#dispatchRuns(source, set, stream, header);
    const lanes = this.#lanesOf(source);
    let tupleCount = 0;
    while (set.next()) {
      tupleCount += 1;
      this.#dispatchTuple(source, lanes, set, stream, header);
    }
    return tupleCount;
  }

  #dispatchTuple(
    source: LocalSource,
    lanes: (Lane | undefined)[],
    set: TupleSetReader,
    stream: RoutedStream,
    header: StreamHeader,
  ): void {
    const destinations = this.#destinations;
    const misdirected = stream.route(set, destinations);
    if (misdirected > 0) this.#options.traffic.tuplesWithoutDestination.value += misdirected;
    if (set.roots.count > 0 && this.#acks !== undefined) {
      const lost = misdirected > 0 ? (destinations.misdirected as TaskId) : undefined; // T2
      this.#dispatchTracked(source, lanes, set, header, this.#acks, lost);
      return;
    }
    for (let index = 0; index < destinations.count; index += 1) {
      const task = destinations.tasks[index] as TaskId;
      const lane = lanes[task] ?? this.#openLane(source, lanes, task);
      if (this.#dropsWhenBehind && this.#drops(lane, 1)) continue;
      lane.append(header, set.bytes, set.tupleStart, set.tupleEnd, 1);
    }
  }

  /** A tuple that belongs to trees, to `#destinations`: each copy has a key of its own (T1). */
  #dispatchTracked(
    source: LocalSource,
    lanes: (Lane | undefined)[],
    set: TupleSetReader,
    header: StreamHeader,
    acks: AckPath,
    misdirected: TaskId | undefined,
  ): void {
    const { count, tasks } = this.#destinations;
    const { keys } = acks;
    let xorLow = 0;
    let xorHigh = 0;
    let droppedFor = misdirected;
    for (let index = 0; index < count; index += 1) {
      const task = tasks[index] as TaskId;
      const lane = lanes[task] ?? this.#openLane(source, lanes, task);
      if (this.#dropsWhenBehind && this.#drops(lane, 1)) {
        droppedFor = task;
        continue;
      }
      keys.next();
      lane.appendTracked(header, set, keys.low, keys.high);
      xorLow ^= keys.low;
      xorHigh ^= keys.high;
    }
    if (droppedFor !== undefined) acks.dropped(source.task, set.roots, droppedFor);
    else if (count === 0) acks.sentNowhere(source.task, set.roots);
    else acks.sent(source.task, set.roots, xorLow, xorHigh);
  }

  #drops(lane: Lane, tupleCount: number): boolean {
    if (!lane.isBehind) return false;
    this.#options.traffic.tuplesDropped.value += tupleCount;
    return true;
  }

  /**
   * The tuples all go to the same tasks: those that stand behind each other are copied in one
   * piece, as a rule the whole set (bench/route.ts, `1 task`).
   */
  #dispatchRuns(
    source: LocalSource,
    set: TupleSetReader,
    stream: RoutedStream,
    header: StreamHeader,
  ): number {
    const lanes = this.#lanesOf(source);
    const tracks = this.#acks !== undefined;
    let tupleCount = 0;
    let start = 0;
    let end = 0;
    let inRun = 0;
    const endRun = (): void => {
      if (inRun === 0) return;
      for (const task of stream.fixedTasks ?? []) {
        const lane = lanes[task] ?? this.#openLane(source, lanes, task);
        if (this.#dropsWhenBehind && this.#drops(lane, inRun)) continue;
        lane.append(header, set.bytes, start, end, inRun);
      }
      inRun = 0;
    };
    try {
      while (set.next()) {
        tupleCount += 1;
        const isPlain = set.destinationCount === 0 && (!tracks || set.roots.count === 0);
        const follows = set.tupleStart === end && set.tupleEnd - start <= BATCH_BYTES;
        if (!isPlain || !follows) endRun();
        if (isPlain) {
          if (inRun === 0) start = set.tupleStart;
          inRun += 1;
          end = set.tupleEnd;
        } else this.#dispatchTuple(source, lanes, set, stream, header);
      }
    } finally {
      endRun(); // A broken tuple throws: those in front of it go on.
    }
    return tupleCount;
  }

  /** Seals what is open from a source to a destination, so that an end marker may follow. */
  finish(source: LocalSource, destination: TaskId): void {
    this.#lanes.get(source.task)?.[destination]?.finish();
  }

  #lanesOf(source: LocalSource): (Lane | undefined)[] {
    const known = this.#lanes.get(source.task);
    if (known !== undefined) return known;
    const made: (Lane | undefined)[] = [];
    this.#lanes.set(source.task, made);
    return made;
  }

  #openLane(source: LocalSource, lanes: (Lane | undefined)[], task: TaskId): Lane {
    const { outboxes, pool } = this.#options;
    // Routers and outboxes are made from the same plan.
    const lane = new Lane(source, outboxes.get(task) as Outbox, pool);
    lanes[task] = lane;
    return lane;
  }

  /**
   * As in Heron, tuples of a stream without consumers go nowhere, even when they name a task; but a
   * tree that begins with one of them is complete, where Heron's would never be.
   */
  #ignore(source: LocalSource, set: TupleSetReader, header: StreamHeader): number {
    const { logger, traffic } = this.#options;
    if (!this.#reported.has(header)) {
      this.#reported.add(header);
      const { component, stream } = header;
      logger.warn('nobody reads this stream; its tuples are dropped', { component, stream });
    }
    let tupleCount = 0;
    while (set.next()) {
      tupleCount += 1;
      if (set.roots.count > 0) this.#acks?.sentNowhere(source.task, set.roots);
    }
    traffic.tuplesWithoutDestination.value += tupleCount;
    return tupleCount;
  }
}
