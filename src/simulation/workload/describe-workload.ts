import type { Random } from '../../base/random.ts';
import { describeShape, type Shape } from './describe-shape.ts';
import { Draw } from './draw.ts';
import { withLaterFeatures } from './later-features.ts';
import type {
  BoltDescription,
  Pace,
  SpoutDescription,
  UserFault,
  WorkloadDescription,
} from './workload-description.ts';
import { sizeOf } from './workload-size.ts';

export interface WorkloadLimits {
  readonly componentsMax?: number;
  readonly parallelismMax?: number;
  readonly containersMax?: number;
  /** Most calls of `execute`, over all tasks. */
  readonly executionsMax?: number;
  /** Most bytes of payload that bolts receive. */
  readonly payloadBytesMax?: number;
  /** Simulated time that spouts may take for their input where nothing holds them up. */
  readonly spanMsMax?: number;
  /** Whether user code throws and hangs in some workloads. */
  readonly hasUserFaults?: boolean;
}

const DEFAULTS: Required<WorkloadLimits> = {
  componentsMax: 12,
  parallelismMax: 4,
  containersMax: 4,
  executionsMax: 3000,
  payloadBytesMax: 8 * 1024 * 1024,
  spanMsMax: 10_000,
  hasUserFaults: true,
};

const EXECUTIONS_MIN = 100;
/** So that the least topology of one spout does not have to read more than this. */
const TUPLES_MAX = 2000;

/**
 * A random workload: its shape first, then how much input its budget allows, then how fast and how
 * badly behaved its components are.
 */
export function describeWorkload(random: Random, limits: WorkloadLimits = {}): WorkloadDescription {
  const full = { ...DEFAULTS, ...limits };
  const seed = random.uint32();
  const draw = new Draw(random);
  const shape = withinBudget(draw, describeShape(draw, full), full);
  const tasks = [...shape.spouts, ...shape.bolts].reduce((sum, part) => sum + part.parallelism, 0);
  const spanMs = draw.betweenScales(10, full.spanMsMax);
  const pacing = { spanMs, isPressing: shape.isPressing };
  const paced = {
    spouts: shape.spouts.map((spout) => ({ ...spout, pace: paceOf(draw, spout, pacing) })),
    bolts: withWork(draw, shape.bolts, {
      slowestMs: full.spanMsMax / Math.max(1, sizeOf(shape).executions),
      slowPercent: shape.isPressing ? 60 : 20,
    }),
  };
  const isFaulty = full.hasUserFaults && draw.chance(25);
  const { spouts, bolts } = isFaulty ? withFaults(draw, paced) : paced;
  const containers = draw.between(1, Math.min(full.containersMax, tasks));
  return {
    seed,
    name: `seed-${seed}`,
    containers,
    config: shape.config,
    spouts,
    bolts: withLaterFeatures(draw, bolts),
  };
}

function withinBudget(
  draw: Draw,
  shape: Shape,
  { executionsMax, payloadBytesMax }: Required<WorkloadLimits>,
): Shape {
  const executions = draw.betweenScales(Math.min(EXECUTIONS_MIN, executionsMax), executionsMax);
  return withInput(withLessFanOut(shape, executions), executions, payloadBytesMax);
}

/** Bolts multiply less, the last ones first, until one tuple of each spout task fits the budget. */
function withLessFanOut(shape: Shape, executionsMax: number): Shape {
  const bolts = [...shape.bolts];
  for (let at = bolts.length - 1; at >= 0; at -= 1) {
    if (sizeOf({ spouts: shape.spouts, bolts }).executions * 10 <= executionsMax) break;
    const bolt = bolts[at] as BoltDescription;
    bolts[at] = { ...bolt, fanOut: Math.min(bolt.fanOut, 1), emitsInFinish: 0 };
  }
  return { ...shape, bolts };
}

/** As much input as the budget allows, shared evenly by the tasks of all spouts. */
function withInput(shape: Shape, executionsMax: number, payloadBytesMax: number): Shape {
  const withTuples = (tuples: number): Shape => ({
    ...shape,
    spouts: shape.spouts.map((spout) => ({ ...spout, tuples })),
  });
  let tuples = 1;
  for (let more = 2; more <= TUPLES_MAX; more = Math.ceil(more * 1.25)) {
    const { executions, emits, payloadBytes } = sizeOf(withTuples(more));
    if (executions > executionsMax || emits > executionsMax * 2) break;
    if (payloadBytes > payloadBytesMax) break;
    tuples = more;
  }
  return withTuples(tuples);
}

function paceOf(
  draw: Draw,
  { tuples }: SpoutDescription,
  { spanMs, isPressing }: { readonly spanMs: number; readonly isPressing: boolean },
): Pace {
  if (isPressing) return { kind: 'flood', perCall: draw.betweenScales(1, 50) };
  const everyMs = Math.max(1, Math.floor(spanMs / tuples));
  const size = draw.betweenScales(1, Math.max(1, tuples));
  const pauseMs = Math.max(1, Math.floor((spanMs * size) / tuples));
  return draw.oneOf<Pace>([
    { kind: 'flood', perCall: draw.betweenScales(1, 50) },
    { kind: 'flood', perCall: 1 },
    { kind: 'burst', size, pauseMs },
    { kind: 'trickle', everyMs },
    { kind: 'awaited', everyMs },
    { kind: 'timer', everyMs },
  ]);
}

/** Some bolts take their time, none of them longer than the run should last. */
function withWork(
  draw: Draw,
  bolts: readonly BoltDescription[],
  { slowestMs, slowPercent }: { readonly slowestMs: number; readonly slowPercent: number },
): readonly BoltDescription[] {
  return bolts.map((bolt) => {
    const delayMs = Math.floor(draw.oneOf([0, 0, slowestMs]) * 10) / 10;
    const style = draw.oneOf<BoltDescription['style']>([
      { kind: 'sync' },
      { kind: 'sync' },
      { kind: 'async', afterMs: delayMs },
      { kind: 'detached', afterMs: draw.between(1, 20) },
    ]);
    const workMs = draw.chance(slowPercent) ? Math.floor(slowestMs * 100) / 100 : 0;
    return { ...bolt, style, workMs };
  });
}

function withFaults(
  draw: Draw,
  parts: Pick<WorkloadDescription, 'spouts' | 'bolts'>,
): Pick<WorkloadDescription, 'spouts' | 'bolts'> {
  const names = [...parts.spouts, ...parts.bolts].map(({ name }) => name);
  const faulty = new Set(draw.some(names, 3));
  const withFault = <Part extends SpoutDescription | BoltDescription>(part: Part): Part =>
    faulty.has(part.name) ? { ...part, faults: [faultOf(draw, part)] } : part;
  return { spouts: parts.spouts.map(withFault), bolts: parts.bolts.map(withFault) };
}

function faultOf(draw: Draw, part: SpoutDescription | BoltDescription): UserFault {
  const taskIndex = draw.between(0, part.parallelism - 1);
  const atCall = draw.betweenScales(1, 50);
  return draw.oneOf<UserFault>([
    { kind: 'throw', taskIndex, atCall },
    { kind: 'throw', taskIndex, atCall },
    { kind: 'hang', taskIndex, atCall, forMs: draw.betweenScales(50, 8000) },
    { kind: 'throw-at-start', taskIndex },
    ...('inputs' in part ? [{ kind: 'throw-in-finish', taskIndex } as const] : []),
  ]);
}
