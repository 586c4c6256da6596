import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { FailKind } from '../model/fail-reason.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { StreamRouter } from '../routing/stream-router.ts';
import { AckSetReader } from '../wire/ack-set-reader.ts';
import { copyOf, type Packet } from '../wire/frame.ts';
import { StreamHeaders } from '../wire/stream-header.ts';
import { TupleSetReader } from '../wire/tuple-set-reader.ts';
import { TupleStreamMessageReader } from '../wire/tuple-stream-message.ts';
import { AckPath } from './ack-path.ts';
import type { AckTraffic } from './ack-traffic.ts';
import { BatchPool } from './batch-pool.ts';
import { type CreditOwner, type OnLostRoots, SendWindow } from './credits.ts';
import type { DataHoldings } from './data-holdings.ts';
import { Dispatcher } from './dispatcher.ts';
import { EndMarkerSet } from './end-marker-set.ts';
import { EndMarkers } from './end-markers.ts';
import { FlushSchedule } from './flush-schedule.ts';
import type { InstanceSession } from './instance-session.ts';
import { LocalDestination } from './local-destination.ts';
import { LocalSource } from './local-source.ts';
import { Outbox } from './outbox.ts';
import type { PeerLink } from './peer-link.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

export interface DataPathOptions {
  /** The tasks of this container. */
  readonly localTasks: readonly TaskId[];
  readonly peerWindowBytes: number;
  readonly instanceWindowBytes: number;
  readonly keyGroups: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly traffic: InstanceTraffic;
  /** Undefined at most once. */
  readonly atLeastOnce: AtLeastOnceOptions | undefined;
  /** `topology.droptuples.upon.backpressure` */
  readonly dropsWhenBehind: boolean;
  /** A local task has sent its last tuple; said once. */
  readonly onEnded: (task: TaskId) => void;
}

export interface AtLeastOnceOptions {
  /** `topology.message.timeout.secs`; undefined when time-outs are off. */
  readonly timeoutMs: number | undefined;
  readonly traffic: AckTraffic;
}

interface LocalTask {
  readonly source: LocalSource;
  readonly destination: LocalDestination;
}

/** A set that an instance sent before there was a plan to route by. */
interface HeldSet {
  readonly session: InstanceSession;
  readonly bytes: Uint8Array;
}

/**
 * Everything that tuples pass in one stream manager:
 *
 *     local instance ─> LocalSource ─> Dispatcher ─> Outbox ─> LocalDestination ─> local instance
 *                                                       └────> PeerLink ─> other stream manager
 *     other stream manager ───────────────────────────────────> LocalDestination
 *
 * Memory is bounded by settings and by the plan, whatever stands still. With S stream managers, and
 * for this one's L local tasks, each of whose tuples goes to at most F of the T tasks of the plan:
 *
 *     L · F · (instance window + one packet)   what waits in outboxes (C4 of credits.ts)
 *   + L · T · 40 KiB                           one open batch in each lane that is blocked
 *   + T · (peer window + one batch)            sent by us, not yet consumed
 *   + L · S · (peer window + one batch)        arrived for local tasks, not yet consumed
 *   + (L + S) · packet limit                   packets that have begun to arrive
 *   + 10 MiB                                   buffers to use again
 *
 * with `topology.droptuples.upon.backpressure`, in place of the first line,
 *
 *     T · (high mark + one packet)               what waits in outboxes before tuples are dropped
 *
 * and with at least once
 *
 *     20 to 55 bytes · live trees                T3 of tree-table.ts; spouts of this engine have
 *                                                topology.max.spout.pending of them at most
 *   + as much again as outboxes hold and         the trees of these tuples: 12 bytes each, in rings
 *     what was sent and is not yet consumed      that double; such tuples have 25 bytes at least
 *   + L · T · 16 KiB                             trees of what is in open batches
 *   + 32 KiB · spout tasks elsewhere             acks of one turn
 *   + L · 4 MiB                                  fails that a spout's socket has not taken
 *
 * and what sockets have not taken of acks: 30 bytes for each tuple that tasks here have consumed,
 * and so bounded by what their trees' spouts have out.
 *
 * Sets count by their bytes; one that waits weighs some 300 bytes more, which shows only where
 * sources send single tiny tuples on alternating streams.
 *
 * P1. Tuples reach an instance only after it has the plan (`instanceOpened`), and nothing is routed
 *     before there is one: what comes earlier waits, and counts against the window of its source.
 * P2. When a way breaks, what was under way on it is lost and counted; what waits for it stays.
 *     With at least once the trees of what is lost fail at once (credits.ts).
 * P3. An end marker is sent once behind the data of its task, and again each time a way comes back.
 */
export class DataPath {
  readonly #options: DataPathOptions;
  readonly #locals: ReadonlyMap<TaskId, LocalTask>;
  readonly #outboxes = new Map<TaskId, Outbox>();
  readonly #schedule: FlushSchedule;
  readonly #ends = new EndMarkers();
  readonly #pool = new BatchPool();
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #ackReader = new AckSetReader();
  readonly #message = new TupleStreamMessageReader();
  #held: HeldSet[] = [];
  #plan: PlanIndex | undefined;
  #dispatcher: Dispatcher | undefined;
  /** Undefined at most once, and before there is a plan. */
  #acks: AckPath | undefined;

  constructor(options: DataPathOptions) {
    const { clock, localTasks, instanceWindowBytes, traffic, dropsWhenBehind } = options;
    this.#options = options;
    this.#schedule = new FlushSchedule(clock);
    const ownSender: CreditOwner = {
      grant: (task, bytes) => this.#outboxes.get(task as TaskId)?.refill(bytes),
    };
    this.#locals = new Map(
      localTasks.map((task) => [
        task,
        {
          source: new LocalSource(task, instanceWindowBytes, this.#schedule, {
            waitsForBatches: !dropsWhenBehind,
          }),
          destination: new LocalDestination(task, ownSender, this.#pool, traffic),
        },
      ]),
    );
  }

  /** The first plan, whose tasks stay the same for the life of this process. */
  start(plan: PlanIndex): void {
    const { keyGroups, random, localTasks, traffic, logger, peerWindowBytes } = this.#options;
    const { dropsWhenBehind } = this.#options;
    this.#plan = plan;
    this.#acks = this.#createAcks(plan);
    for (const { task } of plan.plan.instances) {
      this.#outboxes.set(task, new Outbox(task, new SendWindow(peerWindowBytes), this.#schedule));
    }
    this.#dispatcher = new Dispatcher({
      router: new StreamRouter(plan, { keyGroups, random, localTasks }),
      outboxes: this.#outboxes,
      pool: this.#pool,
      traffic,
      logger,
      acks: this.#acks,
      dropsWhenBehind,
    });
    const held = this.#held;
    this.#held = [];
    for (const set of held) this.#handleHeld(set);
  }

  /** By task of the plan; none before there is one. */
  get outboxes(): ReadonlyMap<TaskId, Outbox> {
    return this.#outboxes;
  }

  /** Whether tuples may still come here for a task: not all that send to it have ended. */
  awaitsTuplesFor(task: TaskId): boolean {
    if (this.#plan === undefined) return false;
    const isLocal = this.#locals.has(task);
    const passesHere = (source: TaskId): boolean => isLocal || this.#locals.has(source);
    return this.#ends.awaitsTuplesFor(task, this.#plan, passesHere);
  }

  /** The local spout tasks that back pressure holds from now on: their trees do not age. */
  setHeld(tasks: ReadonlySet<TaskId>): void {
    this.#acks?.setHeld(tasks);
  }

  get holdings(): DataHoldings {
    const destinations = [...this.#locals.values()].map(({ destination }) => destination);
    return {
      outboxes: Array.from(this.#outboxes.values(), ({ task, queuedBytes, underWayBytes }) => ({
        task,
        queuedBytes,
        underWayBytes,
      })),
      destinations: destinations.map(({ task, unconsumedBytes, waitingBytes }) => ({
        task,
        unconsumedBytes,
        waitingBytes,
      })),
      heldBytes: this.#held.reduce((sum, { bytes }) => sum + bytes.length, 0),
    };
  }

  /** Live trees of a local spout task; 0 for all others, and at most once. */
  liveTreesOf(task: TaskId): number {
    return this.#acks?.treesOf(task)?.ledger.count ?? 0;
  }

  /** Stops all timers; idempotent. */
  close(): void {
    this.#acks?.close();
  }

  /** An instance has registered: it may send. */
  instanceRegistered(session: InstanceSession): void {
    const { task } = session.address;
    const { source, destination } = this.#local(task);
    this.#acks?.instanceChanged(task);
    source.connect(session);
    destination.register(session.connection);
  }

  /** An instance has the plan: it may receive, and first what waited for it. */
  instanceOpened(session: InstanceSession): void {
    const { task } = session.address;
    const { destination } = this.#local(task);
    destination.connect(session.connection, { reportsConsumption: !session.isForeign });
    const outbox = this.#outboxes.get(task);
    outbox?.connect(destination);
    for (const source of this.#endedUpstreamOf(task)) outbox?.add(new EndMarkerSet(source));
  }

  instanceLost(session: InstanceSession): void {
    const { task } = session.address;
    const { source, destination } = this.#local(task);
    source.disconnect();
    this.#outboxes.get(task)?.disconnect(this.#onLost('lost-instance', task));
    destination.disconnect();
    this.#acks?.instanceLost(task);
  }

  linkUp(link: PeerLink): void {
    this.#acks?.linkUp(link);
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) {
      const outbox = this.#outboxes.get(task);
      outbox?.connect(link);
      for (const source of this.#endedUpstreamOf(task)) {
        if (this.#locals.has(source)) outbox?.add(new EndMarkerSet(source));
      }
    }
  }

  linkDown(link: PeerLink): void {
    this.#acks?.linkDown(link);
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) {
      const onLost = this.#onLost('lost-stream-manager', task);
      const lostTuples = this.#outboxes.get(task)?.disconnect(onLost) ?? 0;
      link.traffic.tuplesToPeerLost.add(lostTuples);
    }
  }

  /** Whether a local task has sent its last tuple. */
  hasEnded(task: TaskId): boolean {
    return this.#ends.hasLocal(task);
  }

  /** A tuple set from a local instance. */
  handleInstanceSet(session: InstanceSession, packet: Packet): void {
    const { source } = this.#local(session.address.task);
    const { bytes, payloadStart, payloadEnd } = packet;
    if (this.#dispatcher !== undefined) {
      this.#handleSet(source, bytes, payloadStart, payloadEnd);
      return;
    }
    this.#held.push({ session, bytes: copyOf(bytes, payloadStart, payloadEnd) });
    source.setHeldBack(); // The window stays closed (P1).
  }

  /** A tuple set or credit from another stream manager. */
  handlePeerMessage(link: PeerLink, packet: Packet): void {
    const message = this.#message;
    const { traffic } = this.#options;
    message.open(packet.bytes, packet.payloadStart, packet.payloadEnd);
    const { setStart, setEnd, tupleCount, grantedBytes, lostBytes } = message;
    const task = message.destinationTask as TaskId;
    if (grantedBytes > 0) this.#takeCredit(task, grantedBytes, lostBytes);
    else if (lostBytes > 0) this.#acks?.acksWereLost(task);
    if (setStart === setEnd) return;
    traffic.bytesFromPeers.value += setEnd - setStart;
    traffic.tuplesFromPeers.value += tupleCount;
    const local = this.#locals.get(task);
    if (local === undefined) {
      traffic.tuplesWithoutDestination.value += tupleCount;
      return;
    }
    if (tupleCount === 0 && !this.#handleControl(packet.bytes, setStart, setEnd, task)) return;
    local.destination.deliver(link, packet.bytes, setStart, setEnd, tupleCount);
  }

  #handleHeld({ session, bytes }: HeldSet): void {
    const { source } = this.#local(session.address.task);
    try {
      this.#handleSet(source, bytes, 0, bytes.length);
    } catch (error) {
      session.connection.failHandler(error);
    } finally {
      source.setLetGo();
    }
  }

  #handleSet(source: LocalSource, bytes: Uint8Array, start: number, end: number): void {
    const set = this.#set;
    const { traffic } = this.#options;
    set.open(bytes, start, end);
    if (set.sourceTask !== source.task) {
      const why = `a tuple set of task ${set.sourceTask} came from task ${source.task}`;
      throw environmentError('UNEXPECTED_MESSAGE', why);
    }
    if (set.consumedBytes > 0) this.#local(source.task).destination.consumed(set.consumedBytes);
    if (set.stream !== undefined) {
      source.received(end - start);
      const dispatcher = assertDefined(this.#dispatcher, 'P1: sets are routed by a plan');
      traffic.tuplesFromInstances.value += dispatcher.dispatch(source, set, set.stream);
    }
    const { controlStart, controlEnd } = set;
    if (controlEnd > controlStart) this.#handleAcks(source, bytes, controlStart, controlEnd);
    if (set.endOfInput) this.#handleEnd(source);
  }

  /** Behind the data of its set: an ack comes after what was emitted before it (as Heron). */
  #handleAcks({ task }: LocalSource, bytes: Uint8Array, start: number, end: number): void {
    if (this.#acks === undefined) this.#countAcks(bytes, start, end);
    else this.#acks.handleInstanceSet(task, bytes, start, end);
  }

  /** At most once knows no acks; foreign instances send them all the same. */
  #countAcks(bytes: Uint8Array, start: number, end: number): void {
    const { acksFromInstances, failsFromInstances } = this.#options.traffic;
    const acks = this.#ackReader;
    acks.open(bytes, start, end);
    while (acks.next()) (acks.kind === 'ack' ? acksFromInstances : failsFromInstances).add(1);
  }

  #handleEnd(source: LocalSource): void {
    if (!this.#ends.addLocal(source.task)) return; // Repeated after a reconnect; P3 has seen to it.
    const plan = assertDefined(this.#plan, 'P1: sets are routed by a plan');
    const component = assertDefined(plan.componentOf(source.task), 'local tasks are in the plan');
    for (const destination of plan.downstreamTasks(component.name)) {
      this.#dispatcher?.finish(source, destination);
      this.#outboxes.get(destination)?.add(new EndMarkerSet(source.task));
    }
    this.#options.logger.info('a task has ended', { task: source.task, component: component.name });
    this.#options.onEnded(source.task);
  }

  /** A set without data from another stream manager. Returns whether the task has to get it. */
  #handleControl(bytes: Uint8Array, start: number, end: number, destination: TaskId): boolean {
    const set = this.#set;
    set.open(bytes, start, end);
    const { controlStart, controlEnd } = set;
    const source = set.sourceTask as TaskId;
    if (set.endOfInput) this.#ends.addRemote(source, destination);
    if (this.#acks === undefined || controlEnd === controlStart) return true;
    this.#acks.handlePeerSet(source, bytes, controlStart, controlEnd);
    return set.endOfInput;
  }

  #takeCredit(task: TaskId, grantedBytes: number, lostBytes: number): void {
    const outbox = this.#outboxes.get(task);
    if (grantedBytes > lostBytes) outbox?.refill(grantedBytes - lostBytes);
    if (lostBytes > 0) outbox?.lose(lostBytes, this.#onLost('lost-instance', task));
  }

  #onLost(kind: FailKind, task: TaskId): OnLostRoots {
    return (roots) => this.#acks?.lost(kind, task, roots);
  }

  #createAcks(plan: PlanIndex): AckPath | undefined {
    const { atLeastOnce, traffic } = this.#options;
    if (atLeastOnce === undefined) return undefined;
    return new AckPath({
      ...this.#options,
      ...atLeastOnce,
      instanceTraffic: traffic,
      plan,
      schedule: this.#schedule,
      pool: this.#pool,
      deliver: (task, set, release) => this.#local(task).destination.sendControl(set, release),
      queuedBytes: (task) => this.#local(task).destination.queuedBytes,
    });
  }

  #endedUpstreamOf(destination: TaskId): readonly TaskId[] {
    return this.#plan === undefined ? [] : this.#ends.upstreamOf(destination, this.#plan);
  }

  #local(task: TaskId): LocalTask {
    return assertDefined(this.#locals.get(task), 'only instances of this container register');
  }
}
