import type { Random } from '../../base/random.ts';
import { describeWorkload, type WorkloadLimits } from './describe-workload.ts';
import { Draw } from './draw.ts';
import type {
  AckingDescription,
  BoltDescription,
  Mishap,
  SpoutDescription,
  WorkloadDescription,
} from './workload-description.ts';

const KIB = 1024;

/** Small, since failures multiply what there is to do. */
const LIMITS: WorkloadLimits = {
  componentsMax: 7,
  parallelismMax: 3,
  containersMax: 3,
  executionsMax: 500,
  payloadBytesMax: 1024 * KIB,
  spanMsMax: 3000,
};

/**
 * A random workload that runs at least once: one of the others, with sources that emit again what
 * has failed, and bolts that treat their input well and badly.
 *
 * A time-out is the only end of a tree whose bolt forgets a tuple: where there are none, none does.
 */
export function describeReliableWorkload(random: Random): WorkloadDescription {
  const plan = describeWorkload(random, LIMITS);
  const draw = new Draw(random);
  const isTimed = draw.chance(85);
  const config = { ...plan.config, ...describeConfig(draw, isTimed) };
  const isDropping = config['topology.droptuples.upon.backpressure'] === 'true';
  const spouts = plan.spouts.map((spout) => withReplay(draw, spout, isDropping));
  const bolts = plan.bolts.map((bolt) => withAcking(draw, bolt, isTimed));
  return { ...plan, config, spouts, bolts };
}

function describeConfig(draw: Draw, timeouts: boolean): Readonly<Record<string, string>> {
  const isDropping = draw.chance(15);
  return {
    'topology.reliability.mode': 'ATLEAST_ONCE',
    'topology.max.spout.pending': String(draw.oneOf([1, 2, 10, 100, 100, 100_000])),
    ...(timeouts
      ? { 'topology.message.timeout.secs': String(draw.oneOf([1, 2, 2, 3, 5])) }
      : { 'topology.enable.message.timeouts': 'false' }),
    ...(isDropping && { 'topology.droptuples.upon.backpressure': 'true' }),
    ...(!isDropping && draw.chance(25) && { 'topology.backpressure.scope': 'all' }),
    ...(draw.chance(60) && {
      'heron.streammgr.backpressure.age.ms': String(draw.oneOf([50, 200, 1000])),
    }),
    ...(draw.chance(40) && SMALL_QUEUES),
    ...(draw.chance(50) && {
      'heron.streammgr.backpressure.lease.ms': String(draw.oneOf([500, 1000, 3000])),
    }),
  };
}

/** The least marks that are allowed, and as much as has to be sent to reach them. */
const SMALL_QUEUES = {
  'heron.instance.credit.bytes': String(128 * KIB),
  'heron.streammgr.backpressure.high.bytes': String(65 * KIB),
  'heron.streammgr.backpressure.low.bytes': String(64 * KIB),
} as const;

/**
 * Where tuples are dropped, those that come back at once are dropped too, and those that are more
 * than fit between the marks always: they come back late and not for ever.
 */
function withReplay(draw: Draw, spout: SpoutDescription, isDropping: boolean): SpoutDescription {
  // Some inputs are not tracked, and some are tracked and not emitted again.
  const kind = draw.oneOf(['untracked', 'once', ...REPLAYING]);
  if (kind === 'untracked') return { ...spout, withMessageIds: false };
  if (kind === 'once') return { ...spout, withMessageIds: true };
  // What a timer emits comes outside of the calls that follow a failure.
  const endsEarly = spout.pace.kind !== 'timer' && !isDropping && draw.chance(30);
  const restMs = isDropping ? 200 : draw.oneOf([0, 0, 10, 200]);
  const afterMs = endsEarly ? 0 : restMs;
  const isLimited = isDropping || draw.chance(20);
  return {
    ...spout,
    withMessageIds: true,
    replay: { afterMs, endsEarly, ...(isLimited && { failuresMax: draw.between(0, 3) }) },
  };
}

const REPLAYING = ['replaying', 'replaying', 'replaying', 'replaying', 'replaying', 'replaying'];

function withAcking(draw: Draw, bolt: BoltDescription, timeouts: boolean): BoltDescription {
  const isPlain = bolt.base === 'plain';
  const hasBatches = isPlain && bolt.style.kind === 'sync' && draw.chance(40);
  const acking: AckingDescription = {
    isAnchored: !isPlain || draw.chance(85),
    acksTwice: isPlain && draw.chance(10),
    mishaps: draw.chance(45) ? describeMishaps(draw, bolt, timeouts) : [],
    ...(hasBatches && {
      batch: {
        size: draw.betweenScales(2, 20),
        forMs: draw.betweenScales(1, 200),
        isAckedLater: draw.chance(30),
      },
    }),
  };
  return { ...bolt, acking };
}

function describeMishaps(draw: Draw, { base }: BoltDescription, timeouts: boolean): Mishap[] {
  const of = (kind: Mishap['kind'], timesMax: number): Mishap => ({
    kind,
    every: draw.betweenScales(1, 20),
    times: draw.between(1, timesMax),
  });
  if (base === 'basic') return [of('throw', 10)];
  return [
    ...(draw.chance(60) ? [of('fail', 10)] : []),
    ...(timeouts && draw.chance(40) ? [of('forget', 3)] : []),
    ...(draw.chance(20) ? [of('throw', 2)] : []),
  ];
}
