import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { StreamRouter } from '../routing/stream-router.ts';
import { AckSetReader } from '../wire/ack-set-reader.ts';
import { copyOf, type Packet } from '../wire/frame.ts';
import { StreamHeaders } from '../wire/stream-header.ts';
import { TupleSetReader } from '../wire/tuple-set-reader.ts';
import { TupleStreamMessageReader } from '../wire/tuple-stream-message.ts';
import { BatchPool } from './batch-pool.ts';
import { type CreditOwner, SendWindow } from './credits.ts';
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
  /** A local task has sent its last tuple; said once. */
  readonly onEnded: (task: TaskId) => void;
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
 * Sets count by their bytes; one that waits weighs some 300 bytes more, which shows only where
 * sources send single tiny tuples on alternating streams.
 *
 * P1. Tuples reach an instance only after it has the plan (`instanceOpened`), and nothing is routed
 *     before there is one: what comes earlier waits, and counts against the window of its source.
 * P2. When a way breaks, what was under way on it is lost and counted; what waits for it stays.
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
  readonly #acks = new AckSetReader();
  readonly #message = new TupleStreamMessageReader();
  #held: HeldSet[] = [];
  #plan: PlanIndex | undefined;
  #dispatcher: Dispatcher | undefined;

  constructor(options: DataPathOptions) {
    const { clock, localTasks, instanceWindowBytes, traffic } = options;
    this.#options = options;
    this.#schedule = new FlushSchedule(clock);
    const ownSender: CreditOwner = {
      grant: (task, bytes) => this.#outboxes.get(task as TaskId)?.refill(bytes),
    };
    this.#locals = new Map(
      localTasks.map((task) => [
        task,
        {
          source: new LocalSource(task, instanceWindowBytes, this.#schedule),
          destination: new LocalDestination(task, ownSender, this.#pool, traffic),
        },
      ]),
    );
  }

  /** The first plan, whose tasks stay the same for the life of this process. */
  start(plan: PlanIndex): void {
    const { keyGroups, random, localTasks, traffic, logger, peerWindowBytes } = this.#options;
    this.#plan = plan;
    for (const { task } of plan.plan.instances) {
      this.#outboxes.set(task, new Outbox(task, new SendWindow(peerWindowBytes), this.#schedule));
    }
    this.#dispatcher = new Dispatcher({
      router: new StreamRouter(plan, { keyGroups, random, localTasks }),
      outboxes: this.#outboxes,
      pool: this.#pool,
      traffic,
      logger,
    });
    const held = this.#held;
    this.#held = [];
    for (const set of held) this.#handleHeld(set);
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

  /** An instance has registered: it may send. */
  instanceRegistered(session: InstanceSession): void {
    this.#local(session.address.task).source.connect(session);
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
    this.#outboxes.get(task)?.disconnect();
    destination.disconnect();
  }

  linkUp(link: PeerLink): void {
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) {
      const outbox = this.#outboxes.get(task);
      outbox?.connect(link);
      for (const source of this.#endedUpstreamOf(task)) {
        if (this.#locals.has(source)) outbox?.add(new EndMarkerSet(source));
      }
    }
  }

  linkDown(link: PeerLink): void {
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) {
      const lostTuples = this.#outboxes.get(task)?.disconnect() ?? 0;
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
    source.batchOpened(); // It waits like a batch, so that the window stays closed (P1).
  }

  /** A tuple set or credit from another stream manager. */
  handlePeerMessage(link: PeerLink, packet: Packet): void {
    const message = this.#message;
    const { traffic } = this.#options;
    message.open(packet.bytes, packet.payloadStart, packet.payloadEnd);
    const { setStart, setEnd, tupleCount } = message;
    const task = message.destinationTask as TaskId;
    if (message.grantedBytes > 0) this.#outboxes.get(task)?.refill(message.grantedBytes);
    if (setStart === setEnd) return;
    traffic.bytesFromPeers.value += setEnd - setStart;
    traffic.tuplesFromPeers.value += tupleCount;
    const local = this.#locals.get(task);
    if (local === undefined) {
      traffic.tuplesWithoutDestination.value += tupleCount;
      return;
    }
    if (tupleCount === 0) this.#rememberEnd(packet.bytes, setStart, setEnd, task);
    local.destination.deliver(link, packet.bytes, setStart, setEnd, tupleCount);
  }

  #handleHeld({ session, bytes }: HeldSet): void {
    const { source } = this.#local(session.address.task);
    try {
      this.#handleSet(source, bytes, 0, bytes.length);
    } catch (error) {
      session.connection.failHandler(error);
    } finally {
      source.batchSent();
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
    if (set.controlEnd > set.controlStart) this.#countAcks(bytes, set.controlStart, set.controlEnd);
    if (set.stream !== undefined) {
      source.received(end - start);
      const dispatcher = assertDefined(this.#dispatcher, 'P1: sets are routed by a plan');
      traffic.tuplesFromInstances.value += dispatcher.dispatch(source, set, set.stream);
    }
    if (set.endOfInput) this.#handleEnd(source);
  }

  /** At most once knows no acks; foreign instances send them all the same. */
  #countAcks(bytes: Uint8Array, start: number, end: number): void {
    const { acksFromInstances, failsFromInstances } = this.#options.traffic;
    const acks = this.#acks;
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

  #rememberEnd(bytes: Uint8Array, start: number, end: number, destination: TaskId): void {
    this.#set.open(bytes, start, end);
    if (this.#set.endOfInput) this.#ends.addRemote(this.#set.sourceTask as TaskId, destination);
  }

  /**
   * Ended tasks whose markers a destination is owed: local ones, and remote ones that told us so.
   */
  #endedUpstreamOf(destination: TaskId): readonly TaskId[] {
    const component = this.#plan?.componentOf(destination);
    const upstream = new Set(component && this.#plan?.upstreamTasks(component.name));
    const local = this.#ends.localTasks().filter((task) => upstream.has(task));
    return [...local, ...this.#ends.remoteTasksFor(destination)];
  }

  #local(task: TaskId): LocalTask {
    return assertDefined(this.#locals.get(task), 'only instances of this container register');
  }
}
