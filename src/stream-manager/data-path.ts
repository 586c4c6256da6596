import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { StreamManagerId, TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { FailKind } from '../model/fail-reason.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { StreamRouter } from '../routing/stream-router.ts';
import { copyOf, type Packet } from '../wire/frame.ts';
import { StreamHeaders } from '../wire/stream-header.ts';
import { TupleSetReader } from '../wire/tuple-set-reader.ts';
import { TupleStreamMessageReader } from '../wire/tuple-stream-message.ts';
import { AckPath } from './ack-path.ts';
import type { AtLeastOnceOptions } from './ack-traffic.ts';
import { BatchPool } from './batch-pool.ts';
import { CountedAcks } from './counted-acks.ts';
import type { CreditOwner, OnLostRoots } from './credits.ts';
import type { DataHoldings } from './data-holdings.ts';
import { Dispatcher } from './dispatcher.ts';
import { EarlySets } from './early-sets.ts';
import { FlushSchedule } from './flush-schedule.ts';
import type { InstanceSession } from './instance-session.ts';
import { LocalDestination } from './local-destination.ts';
import { LocalSource } from './local-source.ts';
import { type LocalTask, LocalTasks } from './local-tasks.ts';
import type { Outbox, SetSink } from './outbox.ts';
import { Outboxes } from './outboxes.ts';
import type { PeerLink } from './peer-link.ts';
import { type PlanChange, planChange } from './plan-change.ts';
import { TaskEnds } from './task-ends.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

export interface DataPathOptions {
  /** Our own. */
  readonly streamManager: StreamManagerId;
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
  /** A retiring local task has ended, and nothing of it is left anywhere; said once. */
  readonly onRetired: (task: TaskId) => void;
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
 *   + 8 MiB                                      news of spouts that only a newer plan knows
 *
 * and what sockets have not taken of acks: 30 bytes for each tuple that tasks here have consumed,
 * and so bounded by what their trees' spouts have out.
 *
 * Sets count by their bytes; one that waits weighs some 300 bytes more, which shows only where
 * sources send single tiny tuples on alternating streams.
 *
 * P1. Tuples reach an instance only after it has the plan (`instanceOpened`), and nothing of a task
 *     is routed before a plan has it: what comes earlier waits, and counts against the window of
 *     its source.
 * P2. When a way breaks, what was under way on it is lost and counted; what waits for it stays.
 *     With at least once the trees of what is lost fail at once (credits.ts).
 * P3. An end marker is sent once behind the data of its task, and again each time a way comes back.
 * P4. A newer plan (`update`) concerns only the tasks that it adds, marks or leaves out: queues,
 *     credits and trees of all others stay as they are, so no set is lost or sent twice. The next
 *     tuple is routed by it. Where T is the number of tasks, those that retire count.
 */
export class DataPath {
  readonly #options: DataPathOptions;
  readonly #locals: LocalTasks;
  readonly #outboxes: Outboxes;
  readonly #schedule: FlushSchedule;
  readonly #ends: TaskEnds;
  readonly #pool = new BatchPool();
  readonly #early = new EarlySets();
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #counted: CountedAcks;
  readonly #message = new TupleStreamMessageReader();
  /** Those that are up, of whatever plan. */
  readonly #links = new Map<StreamManagerId, PeerLink>();
  /** What sends tuples of this stream manager, to itself. */
  readonly #ownSender: CreditOwner = {
    grant: (task, bytes) => this.#outboxes.get(task as TaskId)?.refill(bytes),
  };
  #plan: PlanIndex | undefined;
  #dispatcher: Dispatcher | undefined;
  /** Undefined at most once, and before there is a plan. */
  #acks: AckPath | undefined;

  constructor(options: DataPathOptions) {
    this.#options = options;
    this.#counted = new CountedAcks(options.traffic);
    this.#schedule = new FlushSchedule(options.clock);
    this.#outboxes = new Outboxes(options.peerWindowBytes, this.#schedule);
    this.#locals = new LocalTasks((task) => this.#createLocal(task));
    this.#ends = new TaskEnds({
      ...options,
      locals: this.#locals,
      outboxes: this.#outboxes,
      finish: (source, destination) => this.#dispatcher?.finish(source, destination),
    });
  }

  /** The tasks whose instances may register from now on. */
  expect(tasks: ReadonlySet<TaskId>): void {
    this.#locals.expect(tasks);
  }

  /** A plan is in force, the first one or a newer one (P4). */
  update(plan: PlanIndex): void {
    const { streamManager } = this.#options;
    const change = planChange(this.#plan, plan);
    this.#leave(change);
    this.#plan = plan;
    const localTasks = plan.instancesOf(streamManager).map(({ task }) => task);
    this.#locals.plan(localTasks);
    this.#outboxes.add(change);
    this.#keepAccounts(plan, localTasks);
    this.#route(plan, localTasks, change);
    this.#ends.update(plan, change);
    for (const { task, streamManager: id } of change.added) {
      const link = this.#links.get(id);
      if (link !== undefined) this.#connect(task, link);
    }
    this.#early.letGo(
      (task) => this.#locals.has(task),
      (local, bytes) => this.#handleSet(local, bytes, 0, bytes.length),
    );
  }

  /** By task of the plan; none before there is one. */
  get outboxes(): ReadonlyMap<TaskId, Outbox> {
    return this.#outboxes.all;
  }

  /** Whether tuples may still come here for a task: not all that send to it have ended. */
  awaitsTuplesFor(task: TaskId): boolean {
    return this.#ends.awaitsTuplesFor(task);
  }

  /** The local spout tasks that back pressure holds from now on: their trees do not age. */
  setHeld(tasks: ReadonlySet<TaskId>): void {
    this.#acks?.setHeld(tasks);
  }

  get holdings(): DataHoldings {
    return {
      outboxes: this.#outboxes.holdings,
      destinations: this.#locals.holdings,
      heldBytes: this.#early.byteLength,
    };
  }

  /** Live trees of a local spout task; 0 for all others, and at most once. */
  liveTreesOf(task: TaskId): number {
    return this.#acks?.treesOf(task)?.ledger.count ?? 0;
  }

  /** Stops all timers; idempotent. */
  close(): void {
    this.#acks?.close();
    this.#ends.close();
  }

  /** An instance has registered: it may send. */
  instanceRegistered(session: InstanceSession): void {
    const { task } = session.address;
    const { source, destination } = this.#locals.register(task);
    this.#acks?.instanceChanged(task);
    source.connect(session);
    destination.register(session.connection);
  }

  /** An instance of the plan has it: it may receive, and first what waited for it. */
  instanceOpened(session: InstanceSession): void {
    const { task } = session.address;
    const local = assertDefined(this.#locals.get(task), 'it is in the plan');
    const { destination } = local;
    destination.connect(session.connection, { reportsConsumption: !session.isForeign });
    this.#connect(task, destination);
  }

  instanceLost(session: InstanceSession): void {
    const { task } = session.address;
    const local = this.#locals.get(task);
    if (local === undefined) return; // It has left the plan.
    local.source.disconnect();
    this.#outboxes.get(task)?.disconnect(this.#onLost('lost-instance', task));
    local.destination.disconnect();
    this.#acks?.instanceLost(task);
  }

  linkUp(link: PeerLink): void {
    this.#links.set(link.peer, link);
    this.#acks?.linkUp(link);
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) this.#connect(task, link);
  }

  linkDown(link: PeerLink): void {
    if (this.#links.get(link.peer) === link) this.#links.delete(link.peer);
    this.#acks?.linkDown(link);
    for (const { task } of this.#plan?.instancesOf(link.peer) ?? []) {
      const onLost = this.#onLost('lost-stream-manager', task);
      const lostTuples = this.#outboxes.get(task)?.disconnect(onLost) ?? 0;
      link.traffic.tuplesToPeerLost.add(lostTuples);
    }
  }

  /** Whether a local task has sent its last tuple. */
  hasEnded(task: TaskId): boolean {
    return this.#ends.hasEnded(task);
  }

  /** A tuple set from a local instance. */
  handleInstanceSet(session: InstanceSession, packet: Packet): void {
    const local = this.#locals.get(session.address.task);
    if (local === undefined) return; // It has left the plan, with all that it had to say.
    const { bytes, payloadStart, payloadEnd } = packet;
    if (local.isPlanned) this.#handleSet(local, bytes, payloadStart, payloadEnd);
    else this.#early.hold(session, local, copyOf(bytes, payloadStart, payloadEnd)); // P1
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

  #createLocal(task: TaskId): LocalTask {
    const { instanceWindowBytes, traffic, dropsWhenBehind } = this.#options;
    return {
      source: new LocalSource(task, instanceWindowBytes, this.#schedule, {
        waitsForBatches: !dropsWhenBehind,
      }),
      destination: new LocalDestination(task, this.#ownSender, this.#pool, traffic),
      isPlanned: false,
    };
  }

  /** What leaves the plan, while the one that has it is still in force. */
  #leave(change: PlanChange): void {
    const { streamManager, traffic, logger } = this.#options;
    for (const { task, streamManager: id, component } of change.gone) {
      if (id !== streamManager || this.#ends.isRetired(task)) continue;
      logger.warn('a task is taken away before its end', { task, component });
      this.#acks?.instanceLost(task);
    }
    const lostTuples = this.#outboxes.remove(change, (task) => this.#onLost('lost-instance', task));
    traffic.tuplesWithoutDestination.add(lostTuples);
  }

  #keepAccounts(plan: PlanIndex, localTasks: readonly TaskId[]): void {
    if (this.#acks !== undefined) {
      this.#acks.update(plan, localTasks, (peer) => this.#links.get(peer));
      return;
    }
    this.#acks = this.#createAcks(plan, localTasks);
    for (const link of this.#links.values()) this.#acks?.linkUp(link); // They came first.
  }

  #route(plan: PlanIndex, localTasks: readonly TaskId[], { gone }: PlanChange): void {
    const { keyGroups, random } = this.#options;
    const router = new StreamRouter(plan, { keyGroups, random, localTasks });
    if (this.#dispatcher !== undefined) {
      this.#dispatcher.update(
        router,
        gone.map(({ task }) => task),
      );
      return;
    }
    this.#dispatcher = new Dispatcher({
      ...this.#options,
      router,
      outboxes: this.#outboxes.all,
      pool: this.#pool,
      acks: this.#acks,
    });
  }

  /** The way to a task is there: what waited leaves, behind it the markers that it may lack. */
  #connect(task: TaskId, sink: SetSink): void {
    this.#outboxes.get(task)?.connect(sink);
    this.#ends.repeatFor(task);
  }

  #handleSet(local: LocalTask, bytes: Uint8Array, start: number, end: number): void {
    const set = this.#set;
    const { source } = local;
    const { traffic } = this.#options;
    set.open(bytes, start, end);
    if (set.sourceTask !== source.task) {
      const why = `a tuple set of task ${set.sourceTask} came from task ${source.task}`;
      throw environmentError('UNEXPECTED_MESSAGE', why);
    }
    if (set.consumedBytes > 0) local.destination.consumed(set.consumedBytes);
    if (set.stream !== undefined) {
      source.received(end - start);
      const dispatcher = assertDefined(this.#dispatcher, 'P1: sets are routed by a plan');
      traffic.tuplesFromInstances.value += dispatcher.dispatch(source, set, set.stream);
    }
    const { controlStart, controlEnd } = set;
    if (controlEnd > controlStart) this.#handleAcks(source, bytes, controlStart, controlEnd);
    if (set.endOfInput) this.#ends.handleEnd(local);
  }

  /** Behind the data of its set: an ack comes after what was emitted before it (as Heron). */
  #handleAcks({ task }: LocalSource, bytes: Uint8Array, start: number, end: number): void {
    if (this.#acks === undefined) this.#counted.handleInstanceSet(bytes, start, end);
    else this.#acks.handleInstanceSet(task, bytes, start, end);
  }

  /** A set without data from another stream manager. Returns whether the task has to get it. */
  #handleControl(bytes: Uint8Array, start: number, end: number, destination: TaskId): boolean {
    const set = this.#set;
    set.open(bytes, start, end);
    const { controlStart, controlEnd } = set;
    const source = set.sourceTask as TaskId;
    const { endOfInput, planEpoch } = set;
    const isEnd = endOfInput && this.#ends.handleRemoteEnd({ source, destination, planEpoch });
    if (this.#acks === undefined || controlEnd === controlStart) return isEnd;
    this.#acks.handlePeerSet(source, bytes, controlStart, controlEnd);
    return isEnd;
  }

  #takeCredit(task: TaskId, grantedBytes: number, lostBytes: number): void {
    const outbox = this.#outboxes.get(task);
    if (grantedBytes > lostBytes) outbox?.refill(grantedBytes - lostBytes);
    if (lostBytes > 0) outbox?.lose(lostBytes, this.#onLost('lost-instance', task));
  }

  #onLost(kind: FailKind, task: TaskId): OnLostRoots {
    return (roots) => this.#acks?.lost(kind, task, roots);
  }

  #createAcks(plan: PlanIndex, localTasks: readonly TaskId[]): AckPath | undefined {
    const { atLeastOnce, traffic } = this.#options;
    if (atLeastOnce === undefined) return undefined;
    return new AckPath({
      ...this.#options,
      ...atLeastOnce,
      instanceTraffic: traffic,
      plan,
      localTasks,
      schedule: this.#schedule,
      pool: this.#pool,
      deliver: (task, set, release) =>
        this.#locals.get(task)?.destination.sendControl(set, release) === true,
      queuedBytes: (task) => this.#locals.get(task)?.destination.queuedBytes ?? 0,
    });
  }
}
