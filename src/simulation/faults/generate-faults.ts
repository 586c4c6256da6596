import type { Random } from '../../base/random.ts';
import {
  type Ends,
  endOf,
  type Fault,
  type FaultKind,
  type FaultPlan,
  type Target,
} from './fault.ts';

/*
  A plan of faults from a seed. Times cluster around what a run does: its start-up, where most is
  half done, and the time when data flows.

  G1. No fault reaches beyond `horizonMs`; what comes after it is time to recover.
  G2. No limit of the engine is a fault's intention: pauses, outages and partitions stay below the
      two minutes that its processes wait for each other, storms below the number of restarts after
      which an executor gives up. What happens then is decided by settings and tested elsewhere.
*/

export interface FaultLimits {
  readonly faultsMax: number;
  /** Faults begin between these. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly horizonMs: number;
  /** Containers with instances. */
  readonly containers: number;
  readonly kinds?: readonly FaultKind[];
}

interface Weighted {
  readonly kind: FaultKind;
  readonly weight: number;
}

/** What costs data is as likely as what must not. */
const WEIGHTS: readonly Weighted[] = [
  { kind: 'crash', weight: 10 },
  { kind: 'restart-storm', weight: 2 },
  { kind: 'pause', weight: 6 },
  { kind: 'slow-link', weight: 4 },
  { kind: 'drop-connection', weight: 6 },
  { kind: 'half-open', weight: 3 },
  { kind: 'partition', weight: 4 },
  { kind: 'slow-disk', weight: 2 },
  { kind: 'full-disk', weight: 2 },
  { kind: 'store-outage', weight: 3 },
  { kind: 'clock-step', weight: 2 },
  { kind: 'duplicate-master', weight: 2 },
  { kind: 'command', weight: 4 },
];

/** Drawn apart from the others (withBlackHole). */
const APART: readonly Weighted[] = [{ kind: 'black-hole', weight: 1 }];

/** Indices of targets go round, so that any number means some process. */
const INDEX_MAX = 12;

const PAUSE_MS_MAX = 15_000;
const STORM_KILLS_MAX = 5;

/** In the order of their times. */
export function generateFaults(random: Random, limits: FaultLimits): FaultPlan {
  const count = 1 + random.below(limits.faultsMax);
  const plan: Fault[] = [];
  for (let made = 0; made < count; made += 1) {
    const atMs = round(limits.fromMs + random.below(Math.max(1, limits.toMs - limits.fromMs)));
    const kind = chooseKind(random, limits.kinds);
    plan.push(fit(createFault(kind, { atMs, random, limits }), limits.horizonMs));
  }
  return plan.toSorted((one, other) => one.atMs - other.atMs);
}

/** In so many plans a way swallows what it is given. */
const BLACK_HOLES = 6;

/** The plan, now and then with a black hole, drawn apart: the rest stays what it was. */
export function withBlackHole(random: Random, plan: FaultPlan, limits: FaultLimits): FaultPlan {
  if (plan.length === 0 || random.below(BLACK_HOLES) > 0) return plan;
  const more = generateFaults(random, { ...limits, faultsMax: 1, kinds: ['black-hole'] });
  return [...plan, ...more].toSorted((one, other) => one.atMs - other.atMs);
}

interface Draw {
  readonly atMs: number;
  readonly random: Random;
  readonly limits: FaultLimits;
}

function chooseKind(random: Random, kinds: readonly FaultKind[] | undefined): FaultKind {
  const chosen =
    kinds === undefined
      ? WEIGHTS
      : [...WEIGHTS, ...APART].filter(({ kind }) => kinds.includes(kind));
  const total = chosen.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.below(total);
  for (const { kind, weight } of chosen) {
    if (left < weight) return kind;
    left -= weight;
  }
  return 'crash';
}

function createFault(kind: FaultKind, draw: Draw): Fault {
  const { atMs, random } = draw;
  switch (kind) {
    case 'crash':
      return { atMs, kind, processes: crashTargets(draw) };
    case 'restart-storm':
      return {
        atMs,
        kind,
        process: anyProcess(random),
        times: 2 + random.below(STORM_KILLS_MAX - 1),
        afterMs: oneOf(random, [1, 50, 300, 1_000]),
        forMs: duration(random, 10_000),
      };
    case 'pause':
      return { atMs, kind, process: anyProcess(random), forMs: duration(random, PAUSE_MS_MAX) };
    case 'suspend':
      return { atMs, kind, forMs: duration(random, 100_000) };
    case 'slow-link': {
      const extraMs = oneOf(random, [1, 20, 200, 2_000]);
      return { atMs, kind, between: ends(draw), extraMs, forMs: duration(random, 10_000) };
    }
    case 'drop-connection':
      return { atMs, kind, between: ends(draw) };
    case 'half-open':
      return { atMs, kind, between: ends(draw), forMs: duration(random, 12_000) };
    case 'black-hole':
      return { atMs, kind, between: watchedEnds(draw), forMs: duration(random, 4_000) };
    case 'partition': {
      const oneWay = random.below(2) === 0;
      return { atMs, kind, between: ends(draw), oneWay, forMs: duration(random, 12_000) };
    }
    case 'slow-disk':
      return { atMs, kind, extraMs: oneOf(random, [5, 50, 500]), forMs: duration(random, 8_000) };
    case 'full-disk':
      return { atMs, kind, forMs: duration(random, 8_000) };
    case 'store-outage': {
      const how = oneOf(random, ['failing', 'hanging'] as const);
      return { atMs, kind, how, forMs: duration(random, 12_000) };
    }
    case 'clock-step':
      return { atMs, kind, byMs: clockStep(random) };
    case 'duplicate-master':
      if (random.below(3) === 0) return { atMs, kind };
      return { atMs, kind, nodeLostAfterMs: duration(random, 3_000) };
    case 'command':
      return createCommand(draw);
  }
}

function createCommand({ atMs, random, limits }: Draw): Fault {
  const kind = 'command';
  // A kill ends the run early and leaves little to check, so it is rare.
  const command = oneOf(random, [
    'deactivate',
    'deactivate',
    'activate',
    'restart',
    'restart',
    'kill',
  ] as const);
  if (command !== 'restart') return { atMs, kind, command };
  if (random.below(3) === 0) return { atMs, kind, command };
  return { atMs, kind, command, container: random.below(limits.containers + 1) };
}

/** Mostly one process, now and then several at once or a whole container. */
function crashTargets({ random, limits }: Draw): readonly Target[] {
  const draw = random.below(8);
  if (draw === 0) return [`container#${random.below(limits.containers + 1)}`];
  if (draw === 1) return Array.from({ length: 2 + random.below(3) }, () => anyProcess(random));
  return [anyProcess(random)];
}

/** Those who carry data and those who coordinate come up more often than the rest. */
function anyProcess(random: Random): Target {
  const role = oneOf(random, [
    'instance',
    'instance',
    'instance',
    'stream-manager',
    'stream-manager',
    'stream-manager',
    'topology-master',
    'topology-master',
    'executor',
    'metrics-manager',
    'scheduler',
  ] as const);
  return `${role}#${random.below(INDEX_MAX)}`;
}

/** Those that talk with each other; two of the same role may turn out to be the same one. */
function ends({ random, limits }: Draw): Ends {
  const index = (): number => random.below(INDEX_MAX);
  const draw = random.below(6);
  switch (draw) {
    case 0:
      return [[`topology-master#${index()}`], [`stream-manager#${index()}`]];
    case 1:
      return [[`instance#${index()}`], [`stream-manager#${index()}`]];
    case 2:
      return [[`metrics-manager#${index()}`], ['topology-master#0']];
    case 3: {
      const first = random.below(limits.containers + 1);
      const second = (first + 1 + random.below(limits.containers)) % (limits.containers + 1);
      return [[`container#${first}`], [`container#${second}`]];
    }
    default: {
      const first = random.below(limits.containers);
      const second = (first + 1) % limits.containers;
      return [[`stream-manager#${first}`], [`stream-manager#${second}`]];
    }
  }
}

/** Those whose links have beats. */
function watchedEnds({ random, limits }: Draw): Ends {
  const index = random.below(INDEX_MAX);
  if (random.below(2) === 0) return [[`instance#${index}`], allStreamManagers(limits)];
  return [[`stream-manager#${index}`], allStreamManagers(limits)];
}

function allStreamManagers({ containers }: FaultLimits): readonly Target[] {
  return Array.from({ length: containers }, (_, index): Target => `stream-manager#${index}`);
}

/** Short ones as often as long ones: up to `maxMs`, evenly over its orders of magnitude. */
function duration(random: Random, maxMs: number): number {
  const magnitude = random.below(1_000) / 1_000;
  return round(Math.max(1, maxMs ** magnitude));
}

/** Both ways, from a second to a day. */
function clockStep(random: Random): number {
  const byMs = oneOf(random, [1_000, 60_000, 3_600_000, 86_400_000]);
  return random.below(2) === 0 ? byMs : -byMs;
}

/** G1: what would reach beyond the horizon is made shorter. */
function fit(fault: Fault, horizonMs: number): Fault {
  if (endOf(fault) <= horizonMs) return fault;
  const leftMs = Math.max(1, round(horizonMs - fault.atMs));
  if ('forMs' in fault) return { ...fault, forMs: leftMs };
  if (fault.kind === 'duplicate-master') return { ...fault, nodeLostAfterMs: leftMs };
  return { ...fault, atMs: horizonMs };
}

function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}

/** A tenth of a millisecond is exact enough, and short to print. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
