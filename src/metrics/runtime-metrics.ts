/** What the runtime of one thread takes: its heap, its collector, its event loop. */
export interface RuntimeUse {
  readonly heapUsedBytes: number;
  readonly heapCommittedBytes: number;
  /** What the heap may grow to. */
  readonly heapMaxBytes: number;
  /** Outside of the heap and held by it: buffers, mostly. */
  readonly externalBytes: number;
  /** Collections since the thread began, and what they took. */
  readonly collections: number;
  readonly collectionMs: number;
  /** By how much the event loop was late since the last reading; undefined: nothing measured. */
  readonly loopDelay: LoopDelay | undefined;
}

export interface LoopDelay {
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A value that nobody can tell is left out. */
export type MetricValue = readonly [name: string, value: number | undefined];

const MIB = 1024 * 1024;

/** Under the names that Heron's instances give what corresponds in a JVM; the delay is ours. */
export function runtimeMetrics(use: RuntimeUse): readonly MetricValue[] {
  const { heapUsedBytes, heapCommittedBytes, heapMaxBytes, externalBytes, loopDelay } = use;
  return [
    ['__jvm-memory-used-mb', (heapUsedBytes + externalBytes) / MIB],
    ['__jvm-memory-mb-total', (heapCommittedBytes + externalBytes) / MIB],
    ['__jvm-memory-free-mb', (heapCommittedBytes - heapUsedBytes) / MIB],
    ['__jvm-memory-heap-mb-used', heapUsedBytes / MIB],
    ['__jvm-memory-heap-mb-committed', heapCommittedBytes / MIB],
    ['__jvm-memory-heap-mb-max', heapMaxBytes / MIB],
    ['__jvm-memory-non-heap-mb-used', externalBytes / MIB],
    ['__jvm-gc-collection-count', use.collections],
    ['__jvm-gc-collection-time-ms', use.collectionMs],
    ['__event-loop-delay-ms/mean', loopDelay?.meanMs],
    ['__event-loop-delay-ms/p99', loopDelay?.p99Ms],
    ['__event-loop-delay-ms/max', loopDelay?.maxMs],
  ];
}
