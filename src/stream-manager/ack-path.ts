import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { StreamManagerId, TaskId } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { FailKind } from '../model/fail-reason.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { type AckKind, AckSetReader } from '../wire/ack-set-reader.ts';
import { copyOf } from '../wire/frame.ts';
import type { RootList } from '../wire/root-list.ts';
import type { AckTraffic } from './ack-traffic.ts';
import type { BatchPool } from './batch-pool.ts';
import type { RetainedRoots } from './credits.ts';
import { EarlyNews, type News } from './early-news.ts';
import { EdgeKeys } from './edge-keys.ts';
import { FailDetails } from './fail-details.ts';
import type { Flushable, FlushSchedule } from './flush-schedule.ts';
import type { PeerLink } from './peer-link.ts';
import { type PlanChange, planChange } from './plan-change.ts';
import { RemoteAcks } from './remote-acks.ts';
import { ROOT_FIELDS } from './root-log.ts';
import { SpoutReach } from './spout-reach.ts';
import { SpoutTrees } from './spout-trees.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

export interface AckPathOptions {
  /** The first one; `update` takes those that follow. */
  readonly plan: PlanIndex;
  readonly localTasks: readonly TaskId[];
  /** `topology.message.timeout.secs`; undefined when time-outs are off. */
  readonly timeoutMs: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly schedule: FlushSchedule;
  readonly pool: BatchPool;
  readonly traffic: AckTraffic;
  readonly instanceTraffic: InstanceTraffic;
  /**
   * Gives a set without data to a local instance and calls `release` when its bytes have left;
   * false, and nothing called, when it is not connected.
   */
  readonly deliver: (task: TaskId, set: Uint8Array, release: () => void) => boolean;
  /** Bytes that a local instance's connection has not taken. */
  readonly queuedBytes: (task: TaskId) => number;
}

/**
 * At least once: what happens to tuples, taken to the account of their trees.
 *
 *     dispatcher: copies of a tuple went out ──┐      ┌─> SpoutTrees: the tree's spout is here
 *     local bolts: acked, failed ──────────────┼─────>┤         └─> replies to the spout
 *     lost sets: what was in them ─────────────┘      └─> RemoteAcks ──> other stream managers
 *     other stream managers: emits, acks, fails ──────────> SpoutTrees
 *
 * K1. Each copy of a tuple has a key of its own. One tuple's copies are accounted for all at once.
 * K2. Of one set emits are heard first, then acks, then fails (as Heron).
 * K3. What is no tree, or no spout's, is counted and forgotten; it is never an error: a tree may be
 *     over by time-out, by another fail or with its spout while its tuples are still on their way.
 *     An AckTuple without trees, as Heron's Python bolts send it, means nothing. News of a spout
 *     that only a newer plan knows waits for that plan (early-news.ts).
 * K4. Every tree whose account may have gaps fails (`linkDown`, `linkUp`, `acksWereLost`), so that
 *     none is taken for complete because the news of a tuple is missing. A peer that leaves the
 *     plan leaves no gaps, and one that is new in it finds none (spout-reach.ts).
 * K5. What an instance had taken and not acked when it was lost fails by time-out. Where there are
 *     no time-outs all trees fail that may have had tuples there: nothing else would settle them.
 */
export class AckPath implements Flushable {
  /** For copies of tracked tuples. */
  readonly keys: EdgeKeys;
  readonly #options: AckPathOptions;
  /** By task; tasks are small numbers. */
  readonly #local: (SpoutTrees | undefined)[] = [];
  readonly #remote: RemoteAcks;
  readonly #early = new EarlyNews();
  readonly #details: FailDetails;
  readonly #reader = new AckSetReader();
  readonly #reach = new SpoutReach();
  #plan: PlanIndex;
  #replying: SpoutTrees[] = [];
  #isScheduled = false;

  constructor(options: AckPathOptions) {
    const { plan, localTasks, random, pool } = options;
    this.#options = options;
    this.keys = new EdgeKeys(random);
    this.#plan = plan;
    this.#details = new FailDetails(plan);
    this.#remote = new RemoteAcks(pool, () => this.#flushLater());
    this.#work(planChange(undefined, plan), localTasks, () => undefined);
  }

  /**
   * A newer plan is in force. The trees of spouts that left it are forgotten, those of all others
   * go on. `linkWith` knows the links that are up.
   */
  update(
    plan: PlanIndex,
    localTasks: readonly TaskId[],
    linkWith: (peer: StreamManagerId) => PeerLink | undefined,
  ): void {
    const change = planChange(this.#plan, plan);
    this.#plan = plan;
    this.#details.update(plan);
    this.#work(change, localTasks, linkWith);
    const { news, overflown } = this.#early.take();
    for (const one of news) this.#handleNews(one);
    for (const task of overflown) {
      this.acksWereLost(task);
      this.#remote.newsWasLost(task);
    }
  }

  /** Of a local spout task. */
  treesOf(task: TaskId): SpoutTrees | undefined {
    return this.#local[task];
  }

  /** An instance of a task has connected or gone: nobody waits for its earlier trees any more. */
  instanceChanged(task: TaskId): void {
    this.#local[task]?.forget();
  }

  /** The instance of a task has gone (K5). */
  instanceLost(task: TaskId): void {
    const plan = this.#plan;
    this.instanceChanged(task);
    const component = plan.componentOf(task)?.name;
    if (this.#options.timeoutMs !== undefined || component === undefined) return;
    for (const source of plan.allUpstream(component)) {
      for (const spout of plan.allTasksOf(source)) {
        this.#local[spout]?.ledger.failAll();
        this.#remote.newsWasLost(spout);
      }
    }
  }

  /** These spout tasks are held by back pressure, and no others: their trees' time stands still. */
  setHeld(tasks: ReadonlySet<TaskId>): void {
    for (const [task, trees] of this.#local.entries()) {
      trees?.ledger.setHeld(tasks.has(task as TaskId));
    }
  }

  /** Copies of a tuple of `source` went out; the XOR of their keys (K1). */
  sent(source: TaskId, roots: RootList, xorLow: number, xorHigh: number): void {
    for (let index = 0; index < roots.count; index += 1) {
      const task = roots.task(index);
      const low = roots.keyLow(index);
      const high = roots.keyHigh(index);
      if (task === source) this.#local[task]?.created(low, high, xorLow, xorHigh);
      else this.#account('emit', source, task, low, high, xorLow, xorHigh);
    }
  }

  /** A tuple of `source` goes nowhere: a tree that begins with it is complete. */
  sentNowhere(source: TaskId, roots: RootList): void {
    for (let index = 0; index < roots.count; index += 1) {
      if (roots.task(index) !== source) continue;
      this.#local[source]?.completed(roots.keyLow(index), roots.keyHigh(index));
    }
  }

  /**
   * A copy of a tuple of `source` was dropped, because `destination` is behind or not in the plan.
   * Its tree has a key for it that nobody will ack: the ack of the tuple that it descends from may
   * overtake the fail.
   */
  dropped(source: TaskId, roots: RootList, destination: TaskId): void {
    const detail = this.#details.of('dropped', destination);
    this.keys.next();
    const { low: keyLow, high: keyHigh } = this.keys;
    for (let index = 0; index < roots.count; index += 1) {
      const task = roots.task(index);
      const low = roots.keyLow(index);
      const high = roots.keyHigh(index);
      // The tree of a spout's own tuple has not begun.
      if (task === source) this.#local[task]?.failed(source, low, high, detail);
      else {
        this.#account('emit', source, task, low, high, keyLow, keyHigh);
        this.#fail(source, task, low, high, detail);
      }
    }
  }

  /** Tuples of these trees are lost, together with or on the way to `destination`. */
  lost(kind: FailKind, destination: TaskId, roots: RetainedRoots): void {
    const detail = this.#details.of(kind, destination);
    for (let at = 0; at < roots.length; at += ROOT_FIELDS) {
      const task = roots[at] as number;
      this.#fail(destination, task, roots[at + 1] as number, roots[at + 2] as number, detail);
    }
  }

  /**
   * The acks and fails of a local instance.
   *
   * @throws EngineError PACKET_MALFORMED, or UNEXPECTED_MESSAGE for emits, which are ours to say.
   */
  handleInstanceSet(source: TaskId, bytes: Uint8Array, start: number, end: number): void {
    const reader = this.#reader;
    const { acksFromInstances, failsFromInstances } = this.#options.instanceTraffic;
    reader.open(bytes, start, end);
    while (reader.next()) {
      if (reader.kind === 'emit') {
        throw environmentError('UNEXPECTED_MESSAGE', `task ${source} sent emits`);
      }
      (reader.kind === 'ack' ? acksFromInstances : failsFromInstances).value += 1;
      this.#handleEntry(source);
    }
  }

  /** What another stream manager says of the trees of a local task. */
  handlePeerSet(source: TaskId, bytes: Uint8Array, start: number, end: number): void {
    const reader = this.#reader;
    const { acksFromPeers, failsFromPeers } = this.#options.traffic;
    reader.open(bytes, start, end);
    const hasEmits = reader.hasEmits();
    if (hasEmits) this.#handleEmits(source);
    if (hasEmits) reader.open(bytes, start, end);
    while (reader.next()) {
      if (reader.kind === 'emit') continue;
      (reader.kind === 'ack' ? acksFromPeers : failsFromPeers).value += 1;
      this.#handleEntry(source);
    }
  }

  /** News of a local task's trees did not get here (K4). */
  acksWereLost(task: TaskId): void {
    this.#local[task]?.ledger.failAll();
  }

  linkUp(link: PeerLink): void {
    this.#failAll(this.#reach.linkUp(link.peer));
    this.#remote.linkUp(link, this.#tasksOf(link.peer));
  }

  linkDown(link: PeerLink): void {
    this.#remote.linkDown(this.#tasksOf(link.peer));
    this.#failAll(this.#reach.linkDown(link.peer));
  }

  /** At the end of a turn: what has gathered leaves. */
  flush(): void {
    this.#isScheduled = false;
    this.#remote.flush();
    const replying = this.#replying;
    this.#replying = [];
    for (const trees of replying) trees.flush();
  }

  /** Stops all timers; idempotent. */
  close(): void {
    for (const trees of this.#local) trees?.ledger.close();
  }

  /** Works by a plan: its spouts have accounts, those that are gone have none. */
  #work(
    change: PlanChange,
    localTasks: readonly TaskId[],
    linkWith: (peer: StreamManagerId) => PeerLink | undefined,
  ): void {
    const plan = this.#plan;
    for (const { task } of change.gone) {
      this.#closeTrees(task);
      this.#remote.close(task);
    }
    for (const { task, component, streamManager } of change.added) {
      const { kind, language } = assertDefined(plan.component(component), 'plans are whole');
      if (kind !== 'spout') continue;
      if (localTasks.includes(task)) {
        this.#local[task] = this.#createTrees(task, language !== 'typescript');
      } else this.#remote.open(task, linkWith(streamManager));
    }
    const spouts = localTasks.filter((task) => this.#local[task] !== undefined);
    this.#reach.update(plan, spouts, change);
    this.#early.known(plan.plan.instances.map(({ task }) => task));
  }

  #closeTrees(task: TaskId): void {
    const trees = this.#local[task];
    if (trees === undefined) return;
    trees.forget(); // And its timers.
    this.#local[task] = undefined;
    this.#options.traffic.unwatchTrees(task);
  }

  #handleEmits(source: TaskId): void {
    const reader = this.#reader;
    while (reader.next()) {
      if (reader.kind === 'emit') this.#handleEntry(source);
    }
  }

  /** The entry that the reader stands on. */
  #handleEntry(source: TaskId): void {
    const { kind, roots, keyLow, keyHigh } = this.#reader;
    if (kind === 'fail') {
      this.#handleFail(source);
      return;
    }
    for (let index = 0; index < roots.count; index += 1) {
      const low = roots.keyLow(index);
      this.#account(kind, source, roots.task(index), low, roots.keyHigh(index), keyLow, keyHigh);
    }
  }

  #handleFail(source: TaskId): void {
    const { roots, detailStart, detailEnd } = this.#reader;
    const { bytes } = this.#reader;
    const detail =
      detailEnd > detailStart
        ? copyOf(bytes, detailStart, detailEnd)
        : this.#details.of('explicit', source);
    for (let index = 0; index < roots.count; index += 1) {
      this.#fail(source, roots.task(index), roots.keyLow(index), roots.keyHigh(index), detail);
    }
  }

  #account(
    kind: Exclude<AckKind, 'fail'>,
    source: TaskId,
    task: number,
    rootLow: number,
    rootHigh: number,
    xorLow: number,
    xorHigh: number,
  ): void {
    const trees = this.#local[task];
    if (trees !== undefined) trees.settle(kind, source, rootLow, rootHigh, xorLow, xorHigh);
    else if (!this.#remote.add(kind, source, task as TaskId, rootLow, rootHigh, xorLow, xorHigh)) {
      const spout = task as TaskId;
      const news = { kind, source, task: spout, rootLow, rootHigh, xorLow, xorHigh };
      if (!this.#early.keep({ ...news, detail: undefined })) {
        this.#options.traffic.acksWithoutTree.value += 1;
      }
    }
  }

  #fail(source: TaskId, task: number, low: number, high: number, detail: Uint8Array): void {
    const trees = this.#local[task];
    if (trees !== undefined) trees.fail(source, low, high, detail);
    else if (!this.#remote.fail(source, task as TaskId, low, high, detail)) {
      const root = { task: task as TaskId, rootLow: low, rootHigh: high };
      if (!this.#early.keep({ kind: 'fail', source, ...root, xorLow: 0, xorHigh: 0, detail })) {
        this.#options.traffic.failsWithoutTree.value += 1;
      }
    }
  }

  #handleNews({ kind, source, task, rootLow, rootHigh, xorLow, xorHigh, detail }: News): void {
    if (kind !== 'fail') this.#account(kind, source, task, rootLow, rootHigh, xorLow, xorHigh);
    else if (detail !== undefined) this.#fail(source, task, rootLow, rootHigh, detail);
  }

  #failAll(tasks: readonly TaskId[]): void {
    for (const task of tasks) this.#local[task]?.ledger.failAll();
  }

  #tasksOf(peer: StreamManagerId): readonly TaskId[] {
    return this.#plan.instancesOf(peer).map(({ task }) => task);
  }

  #createTrees(task: TaskId, isForeign: boolean): SpoutTrees {
    const { deliver, queuedBytes, traffic } = this.#options;
    const trees = new SpoutTrees({
      ...this.#options,
      task,
      expiresSilently: isForeign,
      details: this.#details,
      deliver: (set, release) => deliver(task, set, release),
      queuedBytes: () => queuedBytes(task),
      onReplies: (one) => {
        this.#replying.push(one);
        this.#flushLater();
      },
    });
    traffic.watchTrees(task, trees.ledger);
    return trees;
  }

  #flushLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule.addOutbox(this);
  }
}
