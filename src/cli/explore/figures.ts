import type { ExploredComponent } from './explored.ts';

/*
  The figures of heron-explorer out of the metrics of one instance. They are kept by stream: a
  spout's by its own, a bolt's by component and stream of what it reads. Heron's instances keep a
  bolt's by stream alone, too, which would count twice; some versions have nothing but `/default`.
*/

export interface InstanceFigures {
  readonly component: string;
  readonly instance: string;
  readonly emitted: number | null;
  readonly executed: number | null;
  readonly acked: number | null;
  readonly failed: number | null;
  readonly completeMs: number | null;
  readonly executeMs: number | null;
  readonly processMs: number | null;
  readonly uptimeSeconds: number | null;
  /** Of one core: 1 is all of it. */
  readonly cpuLoad: number | null;
  readonly memoryMb: number | null;
}

const NS_PER_MS = 1e6;
const UPTIME = ['__jvm-uptime-secs', '__process/__uptime_sec'];
const CPU = ['__jvm-process-cpu-load'];
const MEMORY = ['__jvm-memory-used-mb'];

type Numbers = ReadonlyMap<string, number>;

/** The names of the metrics that the figures of a component are made of. */
export function metricsOf(component: ExploredComponent): readonly string[] {
  const read = [...inputKeys(component), 'default'];
  const written = [...component.streams, 'default'];
  const settled = component.type === 'spout' ? written : read;
  const names = [
    ...written.map((key) => `__emit-count/${key}`),
    ...settled.flatMap((key) => [`__ack-count/${key}`, `__fail-count/${key}`]),
    ...written.map((key) => `__complete-latency/${key}`),
    ...read.flatMap((key) => [
      `__execute-count/${key}`,
      `__execute-latency/${key}`,
      `__process-latency/${key}`,
    ]),
    ...UPTIME,
    ...CPU,
    ...MEMORY,
  ];
  return [...new Set(names)];
}

/** Pure. */
export function figuresOf(
  component: ExploredComponent,
  instance: string,
  numbers: Numbers,
): InstanceFigures {
  const isSpout = component.type === 'spout';
  const { streams } = component;
  const inputs = inputKeys(component);
  const settled = isSpout ? streams : inputs;
  const first = (names: readonly string[]): number | null =>
    names.map((name) => numbers.get(name)).find((value) => value !== undefined) ?? null;
  const ms = (metric: string, keys: readonly string[], counted: string): number | null => {
    const mean = meanOf(numbers, { metric, counted, keys: known(numbers, metric, keys) });
    return mean === null ? null : mean / NS_PER_MS;
  };
  return {
    component: component.name,
    instance,
    emitted: sum(numbers, '__emit-count', streams),
    executed: isSpout ? null : sum(numbers, '__execute-count', inputs),
    acked: sum(numbers, '__ack-count', settled),
    failed: sum(numbers, '__fail-count', settled),
    completeMs: isSpout ? ms('__complete-latency', streams, '__ack-count') : null,
    executeMs: isSpout ? null : ms('__execute-latency', inputs, '__execute-count'),
    processMs: isSpout ? null : ms('__process-latency', inputs, '__ack-count'),
    uptimeSeconds: first(UPTIME),
    cpuLoad: first(CPU),
    memoryMb: first(MEMORY),
  };
}

function inputKeys({ inputs }: ExploredComponent): readonly string[] {
  return inputs.map(({ component, stream }) => `${component}/${stream}`);
}

function sum(numbers: Numbers, metric: string, keys: readonly string[]): number | null {
  const values = known(numbers, metric, keys).map((key) => numbers.get(`${metric}/${key}`) ?? 0);
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}

/** The keys of which there is a number; `default` stands for all where there is none. */
function known(numbers: Numbers, metric: string, keys: readonly string[]): readonly string[] {
  const own = keys.filter((key) => numbers.has(`${metric}/${key}`));
  if (own.length > 0) return own;
  return numbers.has(`${metric}/default`) ? ['default'] : [];
}

/** Each stream counts by what went through it. */
function meanOf(
  numbers: Numbers,
  {
    metric,
    counted,
    keys,
  }: { readonly metric: string; readonly counted: string; readonly keys: readonly string[] },
): number | null {
  let [total, weight] = [0, 0];
  for (const key of keys) {
    const value = numbers.get(`${metric}/${key}`) ?? Number.NaN;
    const count = numbers.get(`${counted}/${key}`) ?? 1;
    if (Number.isNaN(value) || count === 0) continue;
    total += value * count;
    weight += count;
  }
  return weight === 0 ? null : total / weight;
}
