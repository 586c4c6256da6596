import type { Clock, Timer } from '../base/clock.ts';
import type { ComponentName, StreamManagerId, TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { Settings } from '../model/settings.ts';
import { Congestion, type CongestionMarks } from './congestion.ts';
import { type Hold, HoldBook } from './hold-book.ts';
import type { Outbox } from './outbox.ts';
import { type PlanChange, planChange } from './plan-change.ts';
import { PressureAnnouncer } from './pressure-announcer.ts';
import { PressureLog } from './pressure-log.ts';
import {
  agesOfComponent,
  bufferOfInstance,
  holdMetrics,
  initiatorMetrics,
  timesOfInstance,
  waitingSetsOfInstance,
} from './pressure-metrics.ts';
import type { PressureSignal } from './pressure-signal.ts';
import { PressureTimes } from './pressure-times.ts';
import { type HeldSession, SpoutHolds } from './spout-holds.ts';
import { type PressureScope, UpstreamSpouts } from './upstream-spouts.ts';

/** Ages are sampled so often while one passes, within bounds that cost nothing noticeable. */
const SAMPLES_PER_AGE = 8;
const SAMPLE_MS_MIN = 10;
const SAMPLE_MS_MAX = 1_000;

/** The other stream managers, one of them given by its link. */
export interface PressurePeers<Link> {
  toAll(signal: PressureSignal): void;
  to(link: Link, signal: PressureSignal): void;
}

export interface BackPressureOptions<Link> {
  readonly ownId: StreamManagerId;
  readonly marks: CongestionMarks;
  readonly leaseMs: number;
  readonly scope: PressureScope;
  /** Tuples for a task that is behind are dropped (dispatcher.ts), and nobody holds. */
  readonly dropsTuples: boolean;
  readonly peers: PressurePeers<Link>;
  /** Whether tuples may still come here for a task. */
  readonly awaitsTuplesFor: (task: TaskId) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The spout tasks of this container that hold from now on; trees of theirs do not age. */
  readonly onHeld: (tasks: ReadonlySet<TaskId>) => void;
}

/** What a stream manager knows of back pressure at a moment, for whoever looks. */
export interface PressureView {
  /** Tasks that are behind, by its own measure, and that it has said so of. */
  readonly announced: readonly TaskId[];
  /** What holds spouts, said by itself or by others. */
  readonly holds: readonly Hold[];
  /** Spout tasks of its container that hold. */
  readonly held: ReadonlySet<TaskId>;
}

/**
 * Back pressure in one stream manager, both of its sides:
 *
 *     Outbox ─> Congestion ─> PressureAnnouncer ──start, renew, stop──> the other stream managers
 *                                   └───────────────┐
 *     start, renew, stop of others ────────────> HoldBook ─> SpoutHolds ─> local spouts hold
 *
 * Credits (credits.ts) already bound what is under way and what waits. Back pressure stops spouts
 * before all of these bounds are full, tells who is slow, and lets time stand still for trees whose
 * tuples wait in queues.
 *
 * P1. A task that is behind is announced to all stream managers, also to those that link later, and
 *     only spouts whose tuples reach its component hold.
 * P2. Nobody has to say anything for spouts to go on: leases end by themselves (hold-book.ts, B2).
 * P3. Where tuples are dropped in place of that, nothing is announced; `Outbox.isBehind` is kept.
 */
export class BackPressure<Link> {
  readonly #options: BackPressureOptions<Link>;
  readonly #announcer: PressureAnnouncer;
  readonly #book: HoldBook;
  readonly #spouts: SpoutHolds;
  readonly #times: PressureTimes;
  readonly #log: PressureLog;
  /** Those that hold a spout of this container, which is what is measured. */
  readonly #effective = new Set<Hold>();
  readonly #congestions = new Map<TaskId, Congestion>();
  #plan: PlanIndex | undefined;
  #sampling: Timer | undefined;

  constructor(options: BackPressureOptions<Link>) {
    const { clock, metrics, logger, leaseMs, onHeld } = options;
    this.#options = options;
    this.#times = new PressureTimes(clock, metrics);
    this.#log = new PressureLog(clock, logger);
    this.#spouts = new SpoutHolds({ clock, onChange: onHeld });
    this.#book = new HoldBook(clock, {
      onHold: (hold) => this.#onHold(hold),
      onRelease: (hold) => this.#onRelease(hold),
    });
    this.#announcer = new PressureAnnouncer(clock, leaseMs, {
      onStart: (congestion) => this.#onStart(congestion),
      onRenew: (congestion) => this.#options.peers.toAll(this.#startOf(congestion)),
      onStop: (congestion) => this.#onStop(congestion),
    });
  }

  get view(): PressureView {
    return {
      announced: this.#announcer.announced.map(({ task }) => task),
      holds: this.#book.all,
      held: this.#spouts.held,
    };
  }

  /** A plan is in force, the first one or a newer one; each of its tasks has an outbox. */
  update(plan: PlanIndex, outboxes: ReadonlyMap<TaskId, Outbox>): void {
    const { ownId, scope } = this.#options;
    const change = planChange(this.#plan, plan);
    this.#leave(plan, change, outboxes);
    this.#plan = plan;
    this.#spouts.update(new UpstreamSpouts(plan, ownId, scope), this.#book.all);
    for (const hold of this.#book.all) this.#measure(hold);
    for (const [task, outbox] of outboxes) {
      if (this.#congestions.has(task) || !takesTuples(plan, task)) continue;
      this.#congestions.set(task, this.#watch(outbox, plan));
    }
    this.#measureBuffers(change, outboxes);
    this.#startSampling();
    this.#sample();
  }

  linkUp(link: Link): void {
    for (const congestion of this.#announcer.announced) {
      this.#options.peers.to(link, this.#startOf(congestion));
    }
  }

  linkDown(streamManager: StreamManagerId): void {
    this.#book.forget(streamManager);
  }

  /** Another stream manager says something. */
  handleSignal(streamManager: StreamManagerId, signal: PressureSignal): void {
    if (signal.kind === 'stop') this.#book.stop(streamManager, signal.task);
    else this.#book.start(streamManager, signal, signal.leaseMs);
  }

  instanceRegistered(task: TaskId, session: HeldSession): void {
    this.#spouts.connect(task, session);
  }

  instanceLost(task: TaskId): void {
    this.#spouts.disconnect(task);
  }

  /** Idempotent; no timer is left. */
  close(): void {
    this.#sampling?.cancel();
    this.#announcer.close();
    this.#book.close();
  }

  /**
   * Nothing more goes to tasks that are gone or retiring, so nobody has to hold for them; whoever
   * works by an older plan says otherwise until it learns that.
   */
  #leave(plan: PlanIndex, { gone }: PlanChange, outboxes: ReadonlyMap<TaskId, Outbox>): void {
    for (const [task, congestion] of this.#congestions) {
      if (takesTuples(plan, task)) continue;
      outboxes.get(task)?.watch(undefined);
      this.#announcer.forget(congestion);
      this.#congestions.delete(task);
    }
    for (const { streamManager, task } of this.#book.all) {
      if (task === undefined || this.#plan?.instanceOf(task) === undefined) continue;
      if (!takesTuples(plan, task)) this.#book.stop(streamManager, task);
    }
    for (const { id } of gone) {
      this.#times.forget(timesOfInstance(id));
      this.#options.metrics.retire(bufferOfInstance(id), waitingSetsOfInstance(id));
    }
  }

  #measureBuffers({ added }: PlanChange, outboxes: ReadonlyMap<TaskId, Outbox>): void {
    const { ownId, metrics } = this.#options;
    for (const { id, task, streamManager } of added) {
      const outbox = outboxes.get(task);
      if (streamManager !== ownId || outbox === undefined) continue;
      metrics.gauge(bufferOfInstance(id), () => outbox.queuedBytes + outbox.underWayBytes);
      metrics.gauge(waitingSetsOfInstance(id), () => outbox.queuedSets);
    }
  }

  #startSampling(): void {
    const { marks, clock } = this.#options;
    const sampleMs = marks.ageMs / SAMPLES_PER_AGE;
    const periodMs = Math.min(Math.max(sampleMs, SAMPLE_MS_MIN), SAMPLE_MS_MAX);
    this.#sampling ??= clock.every(periodMs, () => this.#sample());
  }

  #watch(outbox: Outbox, plan: PlanIndex): Congestion {
    const { marks, clock, dropsTuples, awaitsTuplesFor, metrics } = this.#options;
    const component = plan.componentOf(outbox.task)?.name;
    const congestion = new Congestion(outbox, {
      marks,
      workingMax: workingMax(plan, outbox.task),
      awaitsTuples: () => awaitsTuplesFor(outbox.task),
      now: () => clock.now(),
      ...(component !== undefined && { ages: metrics.histogram(agesOfComponent(component)) }),
      onChange: (changed) => {
        if (!dropsTuples) this.#announcer.onChange(changed); // P3
      },
    });
    outbox.watch(congestion);
    return congestion;
  }

  #sample(): void {
    for (const congestion of this.#congestions.values()) congestion.sample();
    this.#times.settle();
  }

  #onStart(congestion: Congestion): void {
    const { ownId, peers } = this.#options;
    const { task } = congestion;
    const component = this.#componentOf(task);
    this.#log.begin(congestion, component);
    this.#times.begin(...this.#metricsOf(task));
    peers.toAll(this.#startOf(congestion));
    this.#book.start(ownId, { task, component }, undefined); // It ends when we say so.
  }

  #onStop(congestion: Congestion): void {
    const { ownId, peers } = this.#options;
    const { task } = congestion;
    const component = this.#componentOf(task);
    this.#log.end(congestion, component);
    this.#times.end(...this.#metricsOf(task));
    peers.toAll({ kind: 'stop', task, component });
    this.#book.stop(ownId, task);
  }

  #onHold(hold: Hold): void {
    this.#spouts.add(hold);
    this.#measure(hold);
  }

  #onRelease(hold: Hold): void {
    this.#spouts.remove(hold);
    if (!this.#effective.delete(hold)) return;
    this.#times.end(...holdMetrics(hold, this.#options.ownId));
  }

  /** Time runs while a hold is effective. */
  #measure(hold: Hold): void {
    const isEffective = this.#spouts.isEffective(hold);
    if (isEffective === this.#effective.has(hold)) return;
    const names = holdMetrics(hold, this.#options.ownId);
    if (isEffective) {
      this.#effective.add(hold);
      this.#times.begin(...names);
    } else {
      this.#effective.delete(hold);
      this.#times.end(...names);
    }
  }

  #startOf({ task }: Congestion): PressureSignal {
    const component = this.#componentOf(task);
    return { kind: 'start', task, component, leaseMs: this.#options.leaseMs };
  }

  #metricsOf(task: TaskId): readonly string[] {
    const instance = this.#plan?.instanceOf(task);
    return instance === undefined ? [] : initiatorMetrics(instance, this.#options.ownId);
  }

  #componentOf(task: TaskId): ComponentName | undefined {
    return this.#plan?.instanceOf(task)?.component;
  }
}

/** Only acks go to spouts, and to tasks that retire nothing that has not been sent yet. */
function takesTuples(plan: PlanIndex, task: TaskId): boolean {
  return plan.componentOf(task)?.kind === 'bolt' && !plan.isRetiring(task);
}

/**
 * A task has up to `topology.bolt.concurrency` calls of `execute` pending. It reports what it is
 * done with when that is as much as what is left (gateway/inbound.ts), so as many again seem to be
 * out.
 */
function workingMax(plan: PlanIndex, task: TaskId): number {
  const config = plan.componentOf(task)?.config ?? new Map();
  return 2 * new Settings(plan.plan.topology.config, config).get('topology.bolt.concurrency');
}
