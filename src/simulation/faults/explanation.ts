import { EXIT } from '../../base/exit-codes.ts';
import { instanceIdOf, streamManagerIdOf, type TaskId } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { DelayedWait, FaultExplanation, LostWay, ProcessEnd } from '../checkers/checker.ts';
import { type FaultKind, isLiveCommand } from './fault.ts';
import type { InjectedFault } from './injected-fault.ts';
import { isDuplicate, placeOf } from './targets.ts';

/*
  What the faults of a run excuse. Delivery is at most once (ARCHITECTURE.md): tuples are lost when
  a process that holds them dies, or when a connection that carries them breaks, and never
  otherwise. So

  E1. Killing a process excuses its end and the loss of what it held. With an executor all of its
      container ends, since its processes end when it does, and those that stand still just then
      when they go on.
  E2. A connection that was seen to break excuses the loss of what was emitted before on the ways
      that lead over it, where a fault of links or a long pause of one of its ends can have broken
      it: whoever gets no answer to a handshake in time gives the connection up. It ends nobody.
  E3. Of two masters either may have to end, and the other serves. No tuple is with a master. The
      second one has no supervisor that could ask it to end: whoever takes the topology down kills
      it.
  E4. Whatever only delays (a pause, a slow link or disk) and whatever hits only what data does not
      depend on (a full disk, a store that is away, a clock that steps) excuses delays, and no end,
      but for these: a process whose pid file finds no room on a full disk is killed at its birth,
      and one that cannot write its own node of the state tree there gives up its start; whoever is
      asked to end and cannot remove its nodes says so by its exit code; and a paused process that
      is asked to end does not hear it, and is killed.
  E5. A restart that was asked for ends the processes of its containers, those too that were not
      there yet when it was: commands wait for each other. A kill ends all of them: in an orderly
      way, or by SIGKILL when they take too long.
*/

/** Faults that may break the connections of whom they touch (E2). */
const BREAKING: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'drop-connection',
  'half-open',
  'black-hole',
  'partition',
  'slow-link',
  'pause',
  'suspend',
]);

/** Faults that delay anything on the machine; a step of the wall clock must delay nothing. */
const EVERYWHERE: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'slow-disk',
  'full-disk',
  'store-outage',
]);

/**
 * How long after a fault things may still be late: the longest back-off of a restart (10 s), the
 * time limit of an attempt to connect (10 s), the silence before a stream manager is given up
 * (10 s), twice that of a link.
 */
const RECOVERY_MS = 30_000;

const SCHEDULER = 'scheduler';

/** A process notices late that a connection has broken when the network delivers late. */
const NOTICED_WITHIN_MS = 10_000;

/** Twice the silence that ends a link, where most were silent at once, and a few looks. */
const GIVEN_UP_WITHIN_MS = 25_000;

/**
 * A process hears of the end of its executor at once, but may be busy: as long as an executor is
 * given to end all its processes.
 */
const FOLLOWS_WITHIN_MS = 30_000;

/** A connection between two processes that is no more, for whatever reason. */
export interface BrokenLink {
  readonly between: readonly [string, string];
  readonly atMs: number;
}

export interface ExplanationOptions {
  /** This list and the next are filled while the run goes on. */
  readonly injected: readonly InjectedFault[];
  readonly brokenLinks: readonly BrokenLink[];
  readonly packing: PackingPlan;
  /** Of all processes. */
  readonly ends?: readonly ProcessEnd[];
}

export class InjectedFaultsExplanation implements FaultExplanation {
  readonly #injected: readonly InjectedFault[];
  readonly #brokenLinks: readonly BrokenLink[];
  readonly #ends: readonly ProcessEnd[];
  readonly #ways: ReadonlyMap<TaskId, TaskPlace>;

  constructor({ injected, brokenLinks, packing, ends = [] }: ExplanationOptions) {
    this.#ends = ends;
    this.#injected = injected;
    this.#brokenLinks = brokenLinks;
    this.#ways = placesOf(packing);
  }

  get hasFaults(): boolean {
    return this.#injected.some(({ fault }) => !isLiveCommand(fault));
  }

  explainsEnd(end: ProcessEnd): boolean {
    const all = { injected: this.#injected, ends: this.#ends };
    return this.#injected.some((injected) => explainsEnd(injected, end, all));
  }

  explainsLoss({ from, to, emittedAtMs }: LostWay): boolean {
    const hops = this.#hopsOf(from, to);
    return this.#brokenLinks.some(
      ({ between, atMs }) =>
        emittedAtMs <= atMs &&
        hops.some((hop) => isSame(hop, between)) &&
        this.#injected.some((injected) => mayBreak(injected, between, atMs)),
    );
  }

  explainsDelay({ processes, fromMs, toMs }: DelayedWait): boolean {
    return this.#injected.some(
      (injected) =>
        injected.atMs <= toMs &&
        recoveredAt(injected, processes) >= fromMs &&
        (EVERYWHERE.has(injected.fault.kind) ||
          processes.some((process) => isTouched(injected, process))),
    );
  }

  /** The connections that a tuple of one task passes on its way to another. */
  #hopsOf(from: TaskId, to: TaskId): readonly Hop[] {
    const source = this.#ways.get(from);
    const target = this.#ways.get(to);
    if (source === undefined || target === undefined) return [];
    return [
      [source.instance, source.streamManager],
      [source.streamManager, target.streamManager],
      [target.streamManager, target.instance],
    ];
  }
}

type Hop = readonly [string, string];

interface TaskPlace {
  readonly instance: string;
  readonly streamManager: string;
}

function placesOf(packing: PackingPlan): ReadonlyMap<TaskId, TaskPlace> {
  const places = new Map<TaskId, TaskPlace>();
  for (const { id, instances } of packing.containers) {
    for (const { component, task } of instances) {
      places.set(task, {
        instance: instanceIdOf(id, component, task),
        streamManager: streamManagerIdOf(id),
      });
    }
  }
  return places;
}

function explainsEnd(
  injected: InjectedFault,
  end: ProcessEnd,
  all: Required<Pick<ExplanationOptions, 'injected' | 'ends'>>,
): boolean {
  const { fault, processes, atMs, endsAtMs } = injected;
  const { process } = end;
  if (end.atMs < atMs) return false;
  if (fault.kind === 'crash' || fault.kind === 'restart-storm') {
    if (processes.includes(process) && end.signal === 'SIGKILL') return end.atMs <= endsAtMs;
    return follows(processes, process) && end.atMs <= hearsByMs(injected, process, all);
  }
  if (fault.kind === 'pause') {
    return isKilledPaused(injected, end) || isLeftBehind(injected, end, all.ends);
  }
  // What should have ended meanwhile is killed when all go on.
  if (fault.kind === 'suspend') {
    return isKilledPaused({ ...injected, endsAtMs: endsAtMs + NOTICED_WITHIN_MS }, end);
  }
  if (fault.kind === 'full-disk' || fault.kind === 'store-outage') return isRefused(injected, end);
  if (fault.kind === 'duplicate-master') {
    if (placeOf(process)?.role !== 'topology-master') return false;
    return end.code === EXIT.refused || (end.signal === 'SIGKILL' && isDuplicate(process));
  }
  if (fault.kind !== 'command') return false;
  if (fault.command === 'kill') return end.code === EXIT.ok || end.signal === 'SIGKILL';
  return fault.command === 'restart' && isRestarted(fault.container, process);
}

/** By when a process has ended with its executor, unless it, or the whole machine, stands still. */
function hearsByMs(
  { endsAtMs }: InjectedFault,
  process: string,
  { injected }: Pick<ExplanationOptions, 'injected'>,
): number {
  const byMs = endsAtMs + FOLLOWS_WITHIN_MS;
  const stops = injected.filter(
    ({ fault: { kind }, processes, atMs }) =>
      (kind === 'pause' || kind === 'suspend') && processes.includes(process) && atMs <= byMs,
  );
  return Math.max(endsAtMs, ...stops.map((stop) => stop.endsAtMs)) + FOLLOWS_WITHIN_MS;
}

/** Whoever lived when it was asked for does not matter: it may have had to wait for its turn. */
function isRestarted(only: number | undefined, process: string): boolean {
  const container = placeOf(process)?.container;
  return container !== undefined && container === (only ?? container);
}

function isKilledPaused({ processes, endsAtMs }: InjectedFault, end: ProcessEnd): boolean {
  return processes.includes(end.process) && end.signal === 'SIGKILL' && end.atMs <= endsAtMs;
}

/** A paused executor was taken for hung and killed: what it leaves goes with it (E1). */
function isLeftBehind(
  injected: InjectedFault,
  { process, atMs }: ProcessEnd,
  ends: readonly ProcessEnd[],
): boolean {
  const { processes } = injected;
  const killed = ends.find(
    (end) => processes.includes(end.process) && isKilledPaused(injected, end),
  );
  if (killed === undefined || atMs < killed.atMs) return false;
  return follows(processes, process) && atMs <= killed.atMs + FOLLOWS_WITHIN_MS;
}

/** What the disk says when it refuses, and the state manager for it. */
const REFUSED = /\b(?:EIO|ENOSPC)\b|the disk is full|\bstate node\b/;

function isRefused({ fault, endsAtMs }: InjectedFault, end: ProcessEnd): boolean {
  const { process, code, signal, reason } = end;
  if (end.atMs > endsAtMs + NOTICED_WITHIN_MS) return false;
  if (code === EXIT.failure && REFUSED.test(reason)) return true;
  if (fault.kind === 'store-outage') return false;
  return signal === 'SIGKILL' || (code === EXIT.unavailable && hasOwnNode(process));
}

function hasOwnNode(process: string): boolean {
  const role = placeOf(process)?.role;
  return role === 'topology-master' || role === 'scheduler';
}

/** E1: whether the process ends with an executor among those that were hit. */
function follows(hit: readonly string[], process: string): boolean {
  const container = placeOf(process)?.container;
  if (container === undefined) return false;
  return hit.some((name) => {
    const place = placeOf(name);
    return place?.role === 'executor' && place.container === container;
  });
}

/** Nobody starts a scheduler again but the next command of a person. */
function recoveredAt({ processes, endsAtMs }: InjectedFault, waiting: readonly string[]): number {
  const isForScheduler = [processes, waiting].every((names) => names.includes(SCHEDULER));
  return isForScheduler ? Number.POSITIVE_INFINITY : endsAtMs + RECOVERY_MS;
}

function isTouched({ processes, ends, fault }: InjectedFault, process: string): boolean {
  if (fault.kind === 'duplicate-master') return placeOf(process)?.role === 'topology-master';
  return (
    processes.includes(process) ||
    follows(processes, process) ||
    (ends?.some((names) => names.includes(process)) ?? false)
  );
}

/** E2: whether a fault may have broken a connection at that time. */
function mayBreak(injected: InjectedFault, between: Hop, atMs: number): boolean {
  const { fault, endsAtMs } = injected;
  if (!BREAKING.has(fault.kind)) return false;
  const noticedMs = fault.kind === 'black-hole' ? GIVEN_UP_WITHIN_MS : NOTICED_WITHIN_MS;
  if (injected.atMs > atMs || atMs > endsAtMs + noticedMs) return false;
  return between.some((process) => isTouched(injected, process));
}

function isSame([one, other]: Hop, [first, second]: Hop): boolean {
  return (one === first && other === second) || (one === second && other === first);
}
