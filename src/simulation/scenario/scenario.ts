import { endOfPlan, type FaultPlan } from '../faults/fault.ts';
import { type ChangePlan, generateChanges } from '../faults/generate-changes.ts';
import { type FaultLimits, generateFaults, withBlackHole } from '../faults/generate-faults.ts';
import { NamedRandom } from '../kernel/named-random.ts';
import { aimAtData } from '../faults/aim-at-data.ts';
import { describeWorkload } from '../workload/describe-workload.ts';
import { describeReliableWorkload } from '../workload/reliable-workload.ts';
import type { SpoutDescription, WorkloadDescription } from '../workload/workload-description.ts';
import type { ScenarioRequest } from './examine-seed.ts';
import type { Mode } from './mode.ts';
import { varySettings } from './vary-settings.ts';

/** Everything that a run is made of. The same seed makes the same scenario. */
export interface Scenario {
  readonly seed: number;
  readonly workload: WorkloadDescription;
  readonly settings: Readonly<Record<string, string>>;
  /** The addresses of the machine, which containers get in turn. */
  readonly hosts: readonly string[];
  /** False: it is submitted paused, and activated when the plan has come to its end. */
  readonly startsActive: boolean;
  readonly faults: FaultPlan;
}

/** So small that 200 runs fit into a minute of two cores. */
const EXECUTIONS_MAX = 1_500;
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;
const SPAN_MS_MAX = 6_000;

/** From the end of a submit until tuples flow, about: processes start, register and link. */
const START_MS = 500;
/** A flood takes some time too, and what comes after its end is to be hit as well. */
const SPAN_MS_MIN = 400;
const FAULTS_MAX = 6;
/** Time for the longest fault after the last one has begun. */
const FAULT_TAIL_MS = 15_000;

/** Long enough to see that a paused topology is silent. */
const PAUSED_MS = 5_000;

/** An update takes a second or two, some more where processes are slow to start. */
const LASTING_MS_MIN = 2_000;

const HOSTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

export function scenarioOf(request: ScenarioRequest): Scenario {
  const { seed, faults, workload, mode = 'at-most-once', hasChanges = false } = request;
  const random = new NamedRandom(seed);
  const drawn = workload ?? describedBy(random, mode);
  const described = hasChanges && workload === undefined ? lasting(random, drawn) : drawn;
  const changes = hasChanges ? changesOf(random, described) : undefined;
  const form = random.of('form');
  const hosts = HOSTS.slice(0, 1 + form.below(HOSTS.length));
  const startsActive = form.below(12) > 0;
  return {
    seed,
    workload: described,
    settings: { ...varySettings(random.of('settings')), ...silenceOf(changes) },
    hosts,
    startsActive,
    faults: faults ?? changes?.plan ?? planOf(random, described, mode),
  };
}

function describedBy(random: NamedRandom, mode: Mode): WorkloadDescription {
  if (mode === 'at-least-once') return describeReliableWorkload(random.of('reliable workload'));
  return describeWorkload(random.of('workload'), {
    executionsMax: EXECUTIONS_MAX,
    payloadBytesMax: PAYLOAD_BYTES_MAX,
    spanMsMax: SPAN_MS_MAX,
  });
}

/** One seed in four has no faults: it has to be exact. */
function planOf(random: NamedRandom, workload: WorkloadDescription, mode: Mode): FaultPlan {
  const limits = limitsOf(workload);
  const drawn = drawnPlan(random, limits);
  const plan = withBlackHole(random.of('silent links'), drawn, limits);
  return mode === 'at-least-once' ? aimAtData(random.of('aim'), plan) : plan;
}

function drawnPlan(random: NamedRandom, limits: FaultLimits): FaultPlan {
  const draw = random.of('faults');
  const share = draw.below(4);
  if (share === 0) return [];
  // Most faults are found by few of them, and what is found is then easy to understand.
  return generateFaults(draw, share === 1 ? { ...limits, faultsMax: 1 } : limits);
}

function limitsOf(workload: WorkloadDescription): FaultLimits {
  const toMs = START_MS + Math.max(SPAN_MS_MIN, spanMsOf(workload));
  return {
    faultsMax: FAULTS_MAX,
    fromMs: 0,
    toMs,
    horizonMs: toMs + FAULT_TAIL_MS,
    containers: workload.containers,
  };
}

function changesOf(random: NamedRandom, workload: WorkloadDescription): ChangePlan {
  const toMs = START_MS + Math.max(SPAN_MS_MIN, spanMsOf(workload));
  return generateChanges(random.of('changes'), {
    fromMs: 0,
    toMs,
    horizonMs: toMs + FAULT_TAIL_MS,
    containers: workload.containers,
    components: workload.spouts.length + workload.bolts.length,
  });
}

/** A child's and an executor's, of which the latter is told through a file, and less often. */
function silenceOf(changes: ChangePlan | undefined): Readonly<Record<string, string>> {
  const silenceMs = changes?.silenceMs;
  if (silenceMs === undefined) return {};
  return {
    'heron.executor.child.silence.ms': String(silenceMs),
    'heron.scheduler.executor.silence.ms': String(2 * silenceMs),
  };
}

/** Most workloads are paced so that data flows while things change; some are left as they are. */
function lasting(random: NamedRandom, workload: WorkloadDescription): WorkloadDescription {
  const draw = random.of('lasting');
  if (draw.below(5) === 0) return workload;
  const spanMs = LASTING_MS_MIN + draw.below(SPAN_MS_MAX - LASTING_MS_MIN);
  const spouts = workload.spouts.map((spout): SpoutDescription => {
    if (spoutMs(spout) >= LASTING_MS_MIN) return spout;
    const everyMs = Math.max(1, Math.floor(spanMs / spout.tuples));
    return { ...spout, pace: { kind: draw.below(2) === 0 ? 'trickle' : 'awaited', everyMs } };
  });
  return { ...workload, spouts };
}

/** How long the spouts take for their input where nothing holds them up. */
export function spanMsOf({ spouts }: Pick<WorkloadDescription, 'spouts'>): number {
  return spouts.reduce((longestMs, spout) => Math.max(longestMs, spoutMs(spout)), 0);
}

function spoutMs({ tuples, pace }: SpoutDescription): number {
  switch (pace.kind) {
    case 'flood':
      return 0;
    case 'burst':
      return (tuples / pace.size) * pace.pauseMs;
    case 'trickle':
    case 'awaited':
    case 'timer':
      return tuples * pace.everyMs;
  }
}

/** When the last fault of a scenario is over, by its own time, and a pause was long enough. */
export function horizonOf({ faults }: Pick<Scenario, 'faults'>): number {
  const pauses = faults.filter((fault) => 'command' in fault && fault.command === 'deactivate');
  return Math.max(endOfPlan(faults), ...pauses.map(({ atMs }) => atMs + PAUSED_MS));
}
