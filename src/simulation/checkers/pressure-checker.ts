import { EXIT } from '../../base/exit-codes.ts';
import { containerId, streamManagerIdOf, type TaskId, taskId } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { InstanceAddress, PhysicalPlan } from '../../model/physical-plan.ts';
import { Settings } from '../../model/settings.ts';
import type { PressureView } from '../../stream-manager/back-pressure.ts';
import type { Packet } from '../../wire/frame.ts';
import { StartBackPressure, StopBackPressure } from '../../wire/messages.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import type { Checker, FinishedRun, PlanEvent, PressureEvent, SimulationEvent } from './checker.ts';
import { type Direction, PacketTap } from './packet-tap.ts';
import { Problems } from './problems.ts';

/** Between the news that a task has caught up and the release elsewhere; looks are 100 ms apart. */
const RELEASED_WITHIN_MS = 1000;
/** Between a start message, or its repetition at a new link, and the hold; a few looks. */
const HELD_WITHIN_MS = 300;
/** A timer, and a look. */
const EXPIRED_WITHIN_MS = 500;

interface Kept {
  readonly holder: string;
  readonly owner: string;
  readonly task: TaskId | undefined;
  readonly sinceMs: number;
  readonly atMs: number;
}

/**
 * Back pressure has an owner, an end, and the right spouts.
 *
 * B1. Nobody is held for a task any more soon after its stream manager has stopped to say that it
 *     is behind, unless a fault delays the news.
 * B2. Nobody is held by another stream manager for longer than a lease after its last start
 *     message has come. No fault is an excuse.
 * B3. Those spouts of a container hold whose tuples reach a component that is behind, or all where
 *     the topology says so; and no others.
 * B4. A stream manager that hears of somebody who is behind holds for it until it hears otherwise:
 *     by a stop message, or because whoever said so has ended. A task may be announced anew ten
 *     times a second (pressure-announcer.ts, A1), as often as looks are: they may find it announced
 *     each time and the hold never. So each stop message that comes begins the time anew.
 * B5. When a topology has completed in a run without faults nobody is behind: of the messages that
 *     each one got of a task, the last one is a stop. (Those of them that the last plan has.)
 */
export class PressureChecker implements Checker {
  readonly name = 'back pressure ends';
  /** By the submitted plan, and for each process by the one that it was last seen to work by. */
  readonly #submitted: Upstream;
  readonly #upstreams = new Map<string, { readonly plan: PhysicalPlan; readonly of: Upstream }>();
  readonly #workload: WorkloadDescription;
  readonly #isAll: boolean;
  readonly #leaseMs: number;
  readonly #tap = new PacketTap({
    onPacket: (packet, direction, atMs) => this.#handle(packet, direction, atMs),
    onConnectionEnd() {},
  });
  /** By `holder owner task`: when the last start message came. */
  readonly #startedMs = new Map<string, number>();
  /** By `holder owner task`: when the last stop message came. */
  readonly #stoppedMs = new Map<string, number>();
  /** By `owner task`: when it last said that the task is behind. */
  readonly #announcedMs = new Map<string, number>();
  /** By `owner task`: since when it has said so at each look, and what component that is. */
  readonly #announcedSinceMs = new Map<string, number>();
  /** By `holder owner task`: since when a hold that was there is missing. */
  readonly #missingSinceMs = new Map<string, number>();
  /** By `holder owner task since`: one may be excused, and the next not. So is `#kept`. */
  readonly #missing = new Map<string, Kept>();
  /** By holder: when it was first, and last, seen to run without a break. */
  readonly #seen = new Map<string, { pid: number; fromMs: number; lastMs: number }>();
  readonly #kept = new Map<string, Kept>();
  readonly #excesses: string[] = [];
  readonly #told = new Set<string>();

  constructor(packing: PackingPlan, workload: WorkloadDescription) {
    const settings = new Settings(new Map(Object.entries(workload.config)));
    this.#leaseMs = settings.get('heron.streammgr.backpressure.lease.ms');
    this.#workload = workload;
    this.#isAll = settings.get('topology.backpressure.scope') === 'all';
    this.#submitted = new Upstream(workload, placedBy(packing), this.#isAll);
  }

  observe(event: SimulationEvent): void {
    this.#tap.observe(event);
    if (event.kind === 'plan') this.#notePlan(event);
    if (event.kind === 'pressure') this.#look(event);
    else if (event.kind === 'process-end') this.#forget(event.process);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const excess of this.#excesses) problems.add(excess);
    for (const { holder, owner, task, sinceMs, atMs } of this.#kept.values()) {
      const processes = [holder, owner];
      if (run.explanation.explainsDelay({ processes, fromMs: sinceMs, toMs: atMs })) continue;
      const since = `not since ${sinceMs} ms`;
      problems.add(
        `${holder} held for task ${task} at ${atMs} ms, of which ${owner} had said so ${since}`,
      );
    }
    for (const { holder, owner, task, sinceMs, atMs } of this.#missing.values()) {
      const processes = [holder, owner];
      if (run.explanation.explainsDelay({ processes, fromMs: sinceMs, toMs: atMs })) continue;
      problems.add(
        `${holder} did not hold for task ${task} of ${owner} from ${sinceMs} ms to ${atMs} ms`,
      );
    }
    if (isUndisturbed(run)) this.#checkLast(run, problems);
    return problems.list();
  }

  /** B5 */
  #checkLast(run: FinishedRun, problems: Problems): void {
    const lastPlan = run.history.planAt(run.takenDownFromMs ?? run.endedAtMs);
    const tasks = lastPlan && new Set(lastPlan.instances.map(({ task }) => String(task)));
    const holders = lastPlan && new Set<string>(lastPlan.streamManagers.map(({ id }) => id));
    for (const [key, startedMs] of this.#startedMs) {
      const [holder = '', owner, task = ''] = key.split(' ');
      if ((this.#stoppedMs.get(key) ?? -1) >= startedMs) continue;
      if (tasks?.has(task) === false || holders?.has(holder) === false) continue;
      problems.add(`${owner} never told ${holder} that task ${task} is not behind any more`);
    }
  }

  #notePlan({ process, plan }: PlanEvent): void {
    if (this.#upstreams.get(process)?.plan === plan) return;
    const of = new Upstream(this.#workload, plan.instances, this.#isAll);
    this.#upstreams.set(process, { plan, of });
  }

  #handle(packet: Packet, { from, to }: Direction, atMs: number): void {
    if (packet.typeName === StartBackPressure.typeName) {
      const message = StartBackPressure.decode(packet.payload);
      this.#startedMs.set(`${to} ${from} ${taskId(message.taskId)}`, atMs);
    } else if (packet.typeName === StopBackPressure.typeName) {
      const message = StopBackPressure.decode(packet.payload);
      this.#stoppedMs.set(`${to} ${from} ${taskId(message.taskId)}`, atMs);
    }
  }

  /** The dead say nothing, and no look at them would show it; others may live on for long. */
  #forget(process: string): void {
    for (const said of this.#announcedSinceMs.keys()) {
      if (said.startsWith(`${process} `)) this.#announcedSinceMs.delete(said);
    }
  }

  #look({ process, pid, view, atMs }: PressureEvent): void {
    const runsFromMs = this.#runsFrom(process, pid, atMs);
    for (const task of view.announced) this.#announcedMs.set(`${process} ${task}`, atMs);
    this.#noteAnnounced(process, view, atMs);
    this.#checkMissing(process, view, { runsFromMs, atMs });
    for (const { streamManager: owner, task, sinceMs } of view.holds) {
      const key = `${process} ${owner} ${task}`;
      const announcedMs = this.#announcedMs.get(`${owner} ${task}`) ?? sinceMs;
      const behindMs = Math.max(announcedMs, sinceMs, runsFromMs);
      const incident = `${key} ${behindMs}`;
      if (atMs - behindMs > RELEASED_WITHIN_MS && !this.#kept.has(incident)) {
        this.#kept.set(incident, { holder: process, owner, task, sinceMs: behindMs, atMs });
      }
      if (owner !== process) this.#checkLease(key, Math.max(sinceMs, runsFromMs), atMs);
    }
    this.#checkScope(process, view, atMs);
  }

  #noteAnnounced(process: string, { announced }: PressureView, atMs: number): void {
    const said = new Set(announced.map((task) => `${process} ${task}`));
    for (const key of this.#announcedSinceMs.keys()) {
      if (key.startsWith(`${process} `) && !said.has(key)) this.#announcedSinceMs.delete(key);
    }
    for (const key of said) {
      if (!this.#announcedSinceMs.has(key)) this.#announcedSinceMs.set(key, atMs);
    }
  }

  /** B4: of all that are announced for long, as this one sees it. */
  #checkMissing(
    process: string,
    { holds }: PressureView,
    { runsFromMs, atMs }: { readonly runsFromMs: number; readonly atMs: number },
  ): void {
    for (const [said, announcedMs] of this.#announcedSinceMs) {
      const [owner = '', number] = said.split(' ');
      const task = taskId(Number(number));
      const isHeld = holds.some((hold) => hold.streamManager === owner && hold.task === task);
      const key = `${process} ${said}`;
      if (isHeld) {
        this.#missingSinceMs.delete(key);
        continue;
      }
      const missingMs = this.#missingSinceMs.get(key) ?? atMs;
      const stoppedMs = this.#stoppedMs.get(key) ?? 0;
      const sinceMs = Math.max(missingMs, announcedMs, stoppedMs, runsFromMs);
      this.#missingSinceMs.set(key, sinceMs);
      const incident = `${key} ${sinceMs}`;
      if (atMs - sinceMs < HELD_WITHIN_MS || this.#missing.has(incident)) continue;
      this.#missing.set(incident, { holder: process, owner, task, sinceMs, atMs });
    }
  }

  /** A paused process is not looked at: what it notices counts from its return on. */
  #runsFrom(process: string, pid: number, atMs: number): number {
    const seen = this.#seen.get(process);
    if (seen === undefined || seen.pid !== pid || atMs - seen.lastMs > RELEASED_WITHIN_MS / 2) {
      this.#seen.set(process, { pid, fromMs: atMs, lastMs: atMs });
      return atMs;
    }
    seen.lastMs = atMs;
    return seen.fromMs;
  }

  #checkLease(key: string, sinceMs: number, atMs: number): void {
    const renewedMs = Math.max(this.#startedMs.get(key) ?? 0, sinceMs);
    const limitMs = renewedMs + this.#leaseMs + EXPIRED_WITHIN_MS;
    if (atMs <= limitMs || this.#told.has(key)) return;
    this.#told.add(key);
    const [holder, owner, task] = key.split(' ');
    this.#excesses.push(
      `${holder} held for task ${task} of ${owner} at ${atMs} ms, ` +
        `its lease began at ${renewedMs} ms`,
    );
  }

  #checkScope(process: string, { holds, held }: PressureView, atMs: number): void {
    const upstream = this.#upstreams.get(process)?.of ?? this.#submitted;
    const wanted = new Set(holds.flatMap(({ component }) => upstream.spoutsOf(process, component)));
    const isRight = wanted.size === held.size && [...wanted].every((task) => held.has(task));
    if (isRight || this.#told.has(process)) return;
    this.#told.add(process);
    const [has, should] = [held, wanted].map((tasks) => `[${[...tasks].join(', ')}]`);
    this.#excesses.push(`${process} held tasks ${has} in place of ${should} at ${atMs} ms`);
  }
}

function isUndisturbed({ outcome, explanation, ends, takenDownFromMs = 0 }: FinishedRun): boolean {
  if (outcome !== 'completed' || explanation.hasFaults) return false;
  return ends.every(({ atMs, code }) => atMs >= takenDownFromMs || code === EXIT.ok);
}

type PlacedTask = Pick<InstanceAddress, 'task' | 'component' | 'streamManager'>;

function placedBy({ containers }: PackingPlan): readonly PlacedTask[] {
  return containers.flatMap(({ id, instances }) =>
    instances.map(({ task, component }) => ({
      task,
      component,
      streamManager: streamManagerIdOf(containerId(id)),
    })),
  );
}

/** Which spout tasks of a container feed a component, worked out by the workload alone. */
class Upstream {
  readonly #workload: WorkloadDescription;
  /** Also those that retire. */
  readonly #tasks: readonly PlacedTask[];
  readonly #isAll: boolean;

  constructor(workload: WorkloadDescription, tasks: readonly PlacedTask[], isAll: boolean) {
    this.#workload = workload;
    this.#tasks = tasks;
    this.#isAll = isAll;
  }

  spoutsOf(streamManager: string, component: string | undefined): readonly TaskId[] {
    const { spouts } = this.#workload;
    const sources = component === undefined || this.#isAll ? undefined : this.#sourcesOf(component);
    const names = spouts.map(({ name }) => name).filter((name) => sources?.has(name) ?? true);
    return this.#tasks
      .filter(
        (placed) => placed.streamManager === streamManager && names.includes(placed.component),
      )
      .map(({ task }) => task);
  }

  #sourcesOf(component: string): ReadonlySet<string> {
    const sources = new Set([component]);
    for (const name of sources) {
      const bolt = this.#workload.bolts.find((candidate) => candidate.name === name);
      for (const input of bolt?.inputs ?? []) sources.add(input.component);
    }
    return sources;
  }
}
