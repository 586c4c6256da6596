import { assertDefined } from '../../src/base/assert.ts';
import { type StreamManagerId, streamManagerId, taskId, type TaskId } from '../../src/base/ids.ts';
import type { Logger, LogFields } from '../../src/base/logger.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { BackPressure, type BackPressureOptions } from '../../src/stream-manager/back-pressure.ts';
import { SendWindow } from '../../src/stream-manager/credits.ts';
import { FlushSchedule } from '../../src/stream-manager/flush-schedule.ts';
import { Outbox } from '../../src/stream-manager/outbox.ts';
import type { OutgoingSet } from '../../src/stream-manager/outgoing-set.ts';
import type { PressureSignal } from '../../src/stream-manager/pressure-signal.ts';
import type { ManualClock } from './manual-clock.ts';

export const WINDOW_BYTES = 1_000;
export const MARKS = { highBytes: 500, lowBytes: 100, ageMs: 5_000 };
export const LEASE_MS = 3_000;

type Overrides = Partial<Pick<BackPressureOptions<StreamManagerId>, 'scope' | 'dropsTuples'>>;

/** A set of so many bytes; as a marker when it holds no tuple. */
export function aSetOf(byteLength: number, tupleCount = 1): OutgoingSet {
  return {
    bytes: new Uint8Array(0),
    start: 0,
    end: 0,
    byteLength,
    sourceTask: 1,
    tupleCount,
    roots: undefined,
    compact: () => undefined,
    onSent: () => undefined,
    release: () => undefined,
  };
}

/** One stream manager of a mesh: its real outboxes and back pressure, and nothing else. */
export class MeshedManager {
  readonly id: StreamManagerId;
  readonly metrics = new MetricsRegistry();
  readonly log: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  readonly outboxes: Map<TaskId, Outbox>;
  readonly pressure: BackPressure<StreamManagerId>;
  /** Tasks for which nothing comes any more. */
  readonly overTasks = new Set<number>();
  /** Peers that hear it; others neither hear from it nor know. */
  readonly hearers = new Set<MeshedManager>();
  readonly signals: PressureSignal[] = [];
  /** What it was told of the spouts that hold, each time. */
  readonly heldSets: (readonly number[])[] = [];
  readonly #clock: ManualClock;
  readonly #index: PlanIndex;

  constructor(id: string, plan: PhysicalPlan, clock: ManualClock, overrides: Overrides = {}) {
    this.id = streamManagerId(id);
    this.#clock = clock;
    this.#index = new PlanIndex(plan);
    const schedule = new FlushSchedule(clock);
    this.outboxes = new Map(
      plan.instances.map(({ task }) => [
        task,
        new Outbox(task, new SendWindow(WINDOW_BYTES), schedule),
      ]),
    );
    this.pressure = new BackPressure<StreamManagerId>({
      ownId: this.id,
      marks: MARKS,
      leaseMs: LEASE_MS,
      scope: 'upstream',
      dropsTuples: false,
      peers: {
        toAll: (signal) => {
          this.signals.push(signal);
          for (const peer of this.hearers) this.#send(peer, signal);
        },
        to: (peer, signal) => {
          for (const hearer of this.hearers) if (hearer.id === peer) this.#send(hearer, signal);
        },
      },
      clock,
      logger: loggerInto(this.log),
      metrics: this.metrics,
      awaitsTuplesFor: (task) => !this.overTasks.has(task),
      onHeld: (tasks) => this.heldSets.push([...tasks]),
      ...overrides,
    });
  }

  /** The plan is in force and every way is there. */
  start(): void {
    this.pressure.update(this.#index, this.outboxes);
    for (const task of this.outboxes.keys()) this.connect(task);
  }

  /** A newer plan is in force; new tasks are connected. */
  update(plan: PhysicalPlan): void {
    const planned = new Set(plan.instances.map(({ task }) => task));
    const added = [...planned].filter((task) => !this.outboxes.has(task));
    for (const task of this.outboxes.keys()) if (!planned.has(task)) this.outboxes.delete(task);
    const schedule = new FlushSchedule(this.#clock);
    for (const task of added) {
      this.outboxes.set(task, new Outbox(task, new SendWindow(WINDOW_BYTES), schedule));
      this.connect(task);
    }
    this.pressure.update(new PlanIndex(plan), this.outboxes);
  }

  outbox(task: number): Outbox {
    return assertDefined(this.outboxes.get(taskId(task)), `task ${task} is in the plan`);
  }

  connect(task: number): void {
    this.outbox(task).connect({ send: (set) => set.release() });
  }

  /** Gives a task more than its window and the high mark hold. */
  flood(task: number): void {
    for (let bytes = 0; bytes < WINDOW_BYTES + MARKS.highBytes; bytes += 100) {
      this.outbox(task).add(aSetOf(100));
    }
  }

  /** A task takes all that there is for it. */
  drain(task: number): void {
    const outbox = this.outbox(task);
    while (outbox.underWayBytes > 0) outbox.refill(outbox.underWayBytes);
  }

  /** Spout tasks of its container that hold. */
  get held(): readonly number[] {
    return [...this.pressure.view.held];
  }

  /** Metrics with a value, by name. */
  collect(): Readonly<Record<string, number>> {
    const values = this.metrics.collect().map(({ name, value }) => [name, Number(value)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== 0));
  }

  #send(peer: MeshedManager, signal: PressureSignal): void {
    this.#clock.soon(() => peer.pressure.handleSignal(this.id, signal));
  }
}

/** The stream managers of a plan, each of which hears all others. */
export function aMesh(plan: PhysicalPlan, clock: ManualClock, overrides: Overrides = {}) {
  const managers = plan.streamManagers.map(
    ({ id }) => new MeshedManager(id, plan, clock, overrides),
  );
  for (const manager of managers) {
    for (const other of managers) if (other !== manager) manager.hearers.add(other);
    manager.start();
  }
  clock.runSoon();
  return managers;
}

function loggerInto(log: MeshedManager['log']): Logger {
  const write = (message: string, fields?: LogFields): void => void log.push({ message, fields });
  const logger: Logger = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => logger,
  };
  return logger;
}
