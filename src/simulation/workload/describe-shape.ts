import type { Draw } from './draw.ts';
import type {
  BoltDescription,
  GroupingDescription,
  InputDescription,
  SpoutDescription,
  StreamDescription,
  WorkloadDescription,
} from './workload-description.ts';

/** The graph of a workload, and its settings: what there is, before how much and how fast. */
export interface Shape extends Pick<WorkloadDescription, 'spouts' | 'bolts' | 'config'> {
  /**
   * Whether its tuples are to press against the windows: large ones, small windows, and then spouts
   * that are quicker than bolts.
   */
  readonly isPressing: boolean;
}

export interface ShapeLimits {
  readonly componentsMax: number;
  readonly parallelismMax: number;
}

const KIB = 1024;
/** A tuple that needs a set of its own. */
const LARGER_THAN_SET_BYTES = 40 * KIB;
/** In a ring of the least size no frame is larger than half of it: this goes by message. */
const LARGER_THAN_FRAME_BYTES = 100 * KIB;
const SMALL_RING_BYTES = 128 * KIB;
/** Among so many tuples there is one of the large ones. */
const LARGE_PERIOD = 23;

/** Payloads of the tuples of a stream, in turn. */
const SIZES = [[0], [20], [0, 1, 100], [500, 0], [3000]];
const PRESSING_SIZES = [[2000], [6000, 100], [12_000]];
/** The least that the settings allow. */
const LEAST_WINDOW_BYTES = 64 * KIB;

/** A stream that later components can read. */
interface Readable {
  readonly component: string;
  readonly stream: string;
  readonly layer: number;
}

/**
 * Spouts, then bolts in layers. Each bolt reads at least one stream of the layer before it, so that
 * long chains come about, and some of any earlier one, which makes diamonds.
 */
export function describeShape(draw: Draw, { componentsMax, parallelismMax }: ShapeLimits): Shape {
  const count = draw.between(2, componentsMax);
  const spoutCount = draw.between(1, Math.min(3, count - 1));
  const isPressing = draw.chance(30);
  const largest = draw.oneOf([0, 0, 0, LARGER_THAN_SET_BYTES, LARGER_THAN_FRAME_BYTES]);
  const sizes = isPressing ? PRESSING_SIZES : SIZES;
  const streams = (countMax: number): readonly StreamDescription[] =>
    describeStreams(draw, draw.between(1, countMax), { sizes, largest });
  const parallelism = (): number => draw.between(1, parallelismMax);

  const spouts = Array.from(
    { length: spoutCount },
    (_, at): SpoutDescription => ({
      name: `spout-${at + 1}`,
      parallelism: parallelism(),
      streams: streams(3),
      faults: [],
      tuples: 1,
      pace: { kind: 'flood', perCall: 1 },
      withMessageIds: draw.chance(30),
    }),
  );
  const readable: Readable[] = spouts.flatMap((spout) => readableOf(spout, 0));
  const bolts: BoltDescription[] = [];
  let layer = 1;
  for (let at = 0; at < count - spoutCount; at += 1) {
    if (at > 0 && draw.chance(60)) layer += 1;
    const bolt: BoltDescription = {
      name: `bolt-${at + 1}`,
      parallelism: parallelism(),
      streams: draw.chance(15) ? [] : streams(2),
      faults: [],
      base: draw.oneOf(['basic', 'basic', 'plain']),
      inputs: describeInputs(draw, readable, layer),
      style: { kind: 'sync' },
      fanOut: draw.oneOf([0, 1, 1, 1, 2, 5]),
      workMs: 0,
      emitsInFinish: draw.oneOf([0, 0, 1, 3]),
    };
    bolts.push(bolt);
    readable.push(...readableOf(bolt, layer));
  }
  const isSmallRing = largest > 0 || draw.chance(20);
  return { spouts, bolts, isPressing, config: describeConfig({ isPressing, isSmallRing }) };
}

function describeConfig(is: {
  readonly isPressing: boolean;
  readonly isSmallRing: boolean;
}): Readonly<Record<string, string>> {
  if (is.isPressing) {
    const least = String(LEAST_WINDOW_BYTES);
    return {
      'heron.instance.queue.bytes': least,
      'heron.instance.credit.bytes': least,
      'heron.streammgr.credit.bytes': least,
    };
  }
  return is.isSmallRing ? { 'heron.instance.queue.bytes': String(SMALL_RING_BYTES) } : {};
}

function readableOf(
  { name, streams }: Pick<SpoutDescription, 'name' | 'streams'>,
  layer: number,
): readonly Readable[] {
  return streams.map((stream) => ({ component: name, stream: stream.name, layer }));
}

function describeStreams(
  draw: Draw,
  count: number,
  { sizes, largest }: { readonly sizes: readonly (readonly number[])[]; readonly largest: number },
): readonly StreamDescription[] {
  const names = draw.chance(80) ? ['default', 'second', 'third'] : ['first', 'second', 'third'];
  return names.slice(0, count).map((name) => {
    const small = draw.oneOf(sizes);
    const isLarge = largest > 0 && draw.chance(40);
    const payloadBytes = isLarge
      ? [...Array.from({ length: LARGE_PERIOD - 1 }, () => small[0] ?? 0), largest]
      : small;
    return { name, payloadBytes, keys: draw.oneOf([1, 3, 20, 200]) };
  });
}

/** At least one stream of an earlier layer, the last one before it if there is one (D1 to D3). */
function describeInputs(
  draw: Draw,
  readable: readonly Readable[],
  layer: number,
): readonly InputDescription[] {
  const earlier = readable.filter((source) => source.layer < layer);
  const near = earlier.filter((source) => source.layer === layer - 1);
  const first = draw.oneOf(near.length > 0 ? near : earlier);
  const others = earlier.filter((source) => source !== first);
  const more = others.length > 0 && draw.chance(40) ? draw.some(others, 3) : [];
  return [first, ...more].map(({ component, stream }) => ({
    component,
    stream,
    grouping: describeGrouping(draw),
  }));
}

function describeGrouping(draw: Draw): GroupingDescription {
  return draw.oneOf<GroupingDescription>([
    { kind: 'shuffle' },
    { kind: 'shuffle' },
    { kind: 'fields', fields: ['first'] },
    { kind: 'fields', fields: ['second'] },
    { kind: 'fields', fields: ['first', 'second'] },
    { kind: 'fields', fields: ['second', 'first'] },
    { kind: 'all' },
    { kind: 'global' },
  ]);
}
