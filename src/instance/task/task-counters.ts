import type { Counter, Mean, MetricsRegistry } from '../../metrics/metrics-registry.ts';
import type { ComponentName, StreamName } from '../../base/ids.ts';

/*
  The metrics of a task under Heron's names. Heron keeps each both by stream and, for what a bolt
  receives, by component and stream; latencies are nanoseconds.
*/

/** What a bolt counts for one of the streams that it reads. */
export interface InputCounters {
  readonly executed: Counter;
  readonly executeLatencyNs: Mean;
  readonly failed: Counter;
}

export class TaskCounters {
  readonly acked: Counter;
  readonly failed: Counter;
  readonly nextTupleLatencyNs: Mean;
  readonly #registry: MetricsRegistry;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    this.acked = registry.counter('__ack-count/default');
    this.failed = registry.counter('__fail-count/default');
    this.nextTupleLatencyNs = registry.mean('__next-tuple-latency');
  }

  emitted(stream: StreamName): Counter {
    return this.#registry.counter(`__emit-count/${stream}`);
  }

  input(component: ComponentName, stream: StreamName): InputCounters {
    const key = `${component}/${stream}`;
    return {
      executed: this.#registry.counter(`__execute-count/${key}`),
      executeLatencyNs: this.#registry.mean(`__execute-latency/${key}`),
      failed: this.#registry.counter(`__fail-count/${key}`),
    };
  }
}
