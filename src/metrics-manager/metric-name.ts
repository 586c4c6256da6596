/*
  What one of Heron's metric names says, for sinks whose users expect plain names with labels and
  base units. A name is a path of segments:

    __emit-count/default                      name, stream
    __execute-count/split/default             name, component that sent it, stream
    __server/__tuples_to_workers              name in two parts: both begin with underscores
    __client_stmgr-2/__bytes_to_stmgrs        the peer is in the first part
    __jvm-gc-count/young                      name, key
    errors/parse                              what users count: name, key
    __auto__/retries                          the same, without a name of its own
    file-sink/dropped-count                   a sink of the metrics manager, name

  Units become base units, as Prometheus asks for: Heron's latencies are nanoseconds.
*/

export interface MetricFacts {
  /** Words joined by underscores, with the unit at the end: `execute_latency_seconds`. */
  readonly name: string;
  /** Told by the name itself. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** What a value is multiplied with to be in the unit that the name says. */
  readonly factor: number;
  /** A total of the process although it is published as a value, such as processor time. */
  readonly isTotal: boolean;
}

const PEER = /^__client_(.+)$/;
/** `__stmgr__`, `__tmanager__`: no component of the topology. */
const ENGINE_COMPONENT = /^__(\w+)__$/;
/** Families of instances whose keys are no streams. */
const KEYED = /^__(?:jvm|py|process|event-loop)-/;
/** The beginning of what `context.globalMetrics` counts. */
const GLOBAL = '__auto__/';
/** The one name of the engine in instances that does not begin with underscores. */
const DROPPED_EXCEPTIONS = 'dropped_exceptions_count';
/** Families whose key is why something failed (FailReason). */
const REASONS = /^(?:__server\/)?__(?:fail[-_]reason|dead-letter-count)\//;
const TOTAL =
  /^__(?:process\/__cpu_(?:user|system)_usec|jvm-process-cpu-time-nanos|jvm-gc-collection-.*)$/;

const LATENCY = { pattern: /_latency$/, suffix: '_latency_seconds', factor: 1e-9 };
const UNITS = [
  { pattern: /_(?:time_)?ns$/, suffix: '_seconds', factor: 1e-9 },
  { pattern: /_nanos$/, suffix: '_seconds', factor: 1e-9 },
  { pattern: /_usec$/, suffix: '_seconds', factor: 1e-6 },
  { pattern: /_(?:time_)?ms$/, suffix: '_seconds', factor: 1e-3 },
  { pattern: /_secs?$/, suffix: '_seconds', factor: 1 },
  { pattern: /_mb$/, suffix: '_bytes', factor: 1024 * 1024 },
] as const;
/** Milliseconds, though the name does not say so. */
const PRESSURE = {
  pattern: /^(.*time_spent_back_pressure.*)$/,
  suffix: '$1_seconds',
  factor: 1e-3,
};

/** The name of the distribution of a metric, which has the metric's own beside it. */
export function histogramName({ name }: MetricFacts): string {
  return name.replace(/(_seconds|_bytes)?$/, (unit) => `_histogram${unit}`);
}

/** A bound of a histogram in the unit of its name, and in the one that was recorded. */
export interface HistogramBound {
  readonly bound: number;
  readonly raw: number;
}

/** From a microsecond to a hundred seconds where time is counted, else from 1 to 10 millions. */
export function histogramBounds({ name, factor }: MetricFacts): readonly HistogramBound[] {
  const [first, last] = name.endsWith('_seconds') ? [-6, 2] : [0, 7];
  const bounds: HistogramBound[] = [];
  for (let power = first; power <= last; power += 1) {
    for (const step of power === last ? [1] : [1, 2.5, 5]) {
      const bound = Number(`${step}e${power}`);
      bounds.push({ bound, raw: bound / factor });
    }
  }
  return bounds;
}

export function metricFactsOf(metric: string, component: string): MetricFacts {
  const engine = ENGINE_COMPONENT.exec(component)?.[1];
  const isOfEngine = metric.startsWith('__') && !metric.startsWith(GLOBAL);
  const { parts, labels } = isOfEngine
    ? engineParts(metric, engine !== undefined)
    : ownParts(metric, engine);
  const plain = snakeCase(parts.join('_'));
  const isNanoseconds = isOfEngine && engine === undefined && LATENCY.pattern.test(plain);
  const unit = isNanoseconds
    ? LATENCY
    : [PRESSURE, ...UNITS].find(({ pattern }) => isOfEngine && pattern.test(plain));
  return {
    name: unit === undefined ? plain : plain.replace(unit.pattern, unit.suffix),
    labels,
    factor: unit?.factor ?? 1,
    isTotal: TOTAL.test(metric),
  };
}

interface Parts {
  readonly parts: readonly string[];
  readonly labels: MetricFacts['labels'];
}

function engineParts(metric: string, isOfProcess: boolean): Parts {
  const segments = metric.split('/');
  const parts: string[] = [];
  const labels: [string, string][] = [];
  for (let segment = segments[0]; segment?.startsWith('__'); segment = segments[0]) {
    const peer = PEER.exec(segment)?.[1];
    if (peer !== undefined) labels.push(['peer', peer]);
    parts.push(peer === undefined ? segment.slice(2) : 'client');
    segments.shift();
  }
  if (REASONS.test(metric)) labels.push(['reason', segments.join('/')]);
  else if (segments.length > 0) {
    labels.push(...keyLabels(segments, isOfProcess || KEYED.test(metric)));
  }
  return { parts, labels };
}

function keyLabels(key: readonly string[], isPlain: boolean): [string, string][] {
  const [first = '', second, ...rest] = key;
  if (isPlain || rest.length > 0) return [['key', key.join('/')]];
  return second === undefined
    ? [['stream', first]]
    : [
        ['source_component', first],
        ['stream', second],
      ];
}

/** What users count stands apart: it must not mix with the engine's metric of the same name. */
function ownParts(metric: string, engine: string | undefined): Parts {
  const [first = '', ...rest] = metric.split('/');
  if (metric === DROPPED_EXCEPTIONS) return { parts: [metric], labels: [] };
  if (engine === undefined) {
    return { parts: ['user', first], labels: rest.length > 0 ? [['key', rest.join('/')]] : [] };
  }
  if (rest.length === 0) return { parts: [engine, first], labels: [] };
  return { parts: [engine, rest.join('_')], labels: [['sink', first]] };
}

/** `nextTuple-count` → `next_tuple_count`; whatever is no letter, digit or underscore is one. */
function snakeCase(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
}
