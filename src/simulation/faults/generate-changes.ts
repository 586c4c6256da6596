import type { Random } from '../../base/random.ts';
import type { Fault, FaultPlan, LiveCommand } from './fault.ts';
import { type FaultLimits, generateFaults } from './generate-faults.ts';

/*
  Commands that change a topology while it runs, from a seed, and what goes wrong beside them. Now
  and then a command is given twice, or another one takes its place before it can be in force.
*/

export interface ChangeLimits extends Omit<FaultLimits, 'faultsMax' | 'kinds'> {
  /** Spouts and bolts. */
  readonly components: number;
}

export interface ChangePlan {
  readonly plan: FaultPlan;
  /** The silence after which a process is taken for hung; undefined: as it is set by default. */
  readonly silenceMs: number | undefined;
}

const CHANGES_MAX = 3;
const PARALLELISM_MAX = 5;
const CONTAINERS_MAX = 4;
const VALUES = 100;
/** New processes take some time to come up, and then the tasks that go some to end. */
const UNDER_WAY_MS = 1_500;
const REPLACED_WITHIN_MS = 400;
const SILENCES_MS = [2_000, 3_000];
const SUSPENDED_MS = [5_000, 40_000, 100_000];

export function generateChanges(random: Random, limits: ChangeLimits): ChangePlan {
  const changes: LiveCommand[] = [];
  const count = 1 + random.below(CHANGES_MAX);
  for (let made = 0; made < count; made += 1) {
    const change = createChange(random, limits, atOf(random, limits));
    changes.push(change);
    const { atMs } = change;
    const again = random.below(8);
    const soonMs = round(atMs + random.below(REPLACED_WITHIN_MS));
    if (again === 0) changes.push({ ...change, atMs: soonMs });
    if (again < 3) changes.push(createChange(random, limits, soonMs));
  }
  const faults = faultsBeside(random, changes, limits);
  const hang = hangBeside(random, changes, limits);
  const plan = [...changes, ...faults, ...(hang?.plan ?? [])];
  return {
    plan: plan.toSorted((one, other) => one.atMs - other.atMs),
    silenceMs: hang?.silenceMs,
  };
}

function atOf(random: Random, { fromMs, toMs }: ChangeLimits): number {
  return round(fromMs + random.below(Math.max(1, toMs - fromMs)));
}

function createChange(random: Random, { components }: ChangeLimits, atMs: number): LiveCommand {
  const kind = 'command';
  const draw = random.below(10);
  if (draw === 0) return { atMs, kind, command: 'configure', value: random.below(VALUES) };
  // So many that each of them can have a task.
  const containersMax = Math.min(CONTAINERS_MAX, components);
  if (draw < 3) {
    return { atMs, kind, command: 'resize', containers: 1 + random.below(containersMax) };
  }
  const parallelism = 1 + random.below(PARALLELISM_MAX);
  return { atMs, kind, command: 'update', component: random.below(components), parallelism };
}

/** Half of all plans are changes alone: they have to be exact. */
function faultsBeside(
  random: Random,
  changes: readonly LiveCommand[],
  limits: ChangeLimits,
): FaultPlan {
  const share = random.below(4);
  if (share < 2) return [];
  if (share === 2) return generateFaults(random, { ...limits, faultsMax: 3 });
  // One fault while an update is under way.
  const fromMs = changes[random.below(changes.length)]?.atMs ?? limits.fromMs;
  const toMs = fromMs + UNDER_WAY_MS;
  return generateFaults(random, { ...limits, faultsMax: 1, fromMs, toMs });
}

/** A process that hangs, or a machine that sleeps. */
function hangBeside(
  random: Random,
  changes: readonly LiveCommand[],
  limits: ChangeLimits,
): { readonly plan: FaultPlan; readonly silenceMs: number } | undefined {
  const draw = random.below(8);
  if (draw > 1) return undefined;
  const silenceMs = SILENCES_MS[random.below(SILENCES_MS.length)] ?? 0;
  const first = changes[random.below(changes.length)]?.atMs ?? limits.fromMs;
  const atMs = round(random.below(2) === 0 ? first + random.below(200) : atOf(random, limits));
  const fault: Fault =
    draw === 0
      ? { atMs, kind: 'suspend', forMs: SUSPENDED_MS[random.below(SUSPENDED_MS.length)] ?? 0 }
      : { atMs, kind: 'pause', process: hangingProcess(random), forMs: silenceMs * 6 };
  return { plan: [fault], silenceMs };
}

function hangingProcess(random: Random): `${'instance' | 'stream-manager' | 'executor'}#${number}` {
  const roles = ['instance', 'instance', 'stream-manager', 'stream-manager', 'executor'] as const;
  return `${roles[random.below(roles.length)] ?? 'instance'}#${random.below(12)}`;
}

/** A tenth of a millisecond is exact enough, and short to print. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
