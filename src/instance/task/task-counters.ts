import type { Histogram } from '../../metrics/histogram.ts';
import { LatencySampler } from '../../metrics/latency-sampler.ts';
import type { Counter, Mean, MetricsRegistry } from '../../metrics/metrics-registry.ts';
import type { ComponentName, StreamName } from '../../base/ids.ts';
import type { FailKind } from '../../model/fail-reason.ts';

/*
  The metrics of a task under Heron's names. Heron keeps each both by stream and, for what a bolt
  receives, by component and stream; latencies are nanoseconds. A histogram has the name of its
  mean; histograms are undefined where `topology.metrics.histograms` is off.
*/

/** What a bolt counts for one of the streams that it reads. */
export interface InputCounters {
  readonly executed: Counter;
  readonly executeTimeNs: Counter;
  readonly executeLatencyNs: Mean;
  readonly executeLatencies: Histogram | undefined;
  /** From the moment at which the gateway had the set until the task took it, for each tuple. */
  readonly queueLatencies: Histogram | undefined;
  readonly failed: Counter;
}

/** What a bolt counts, under at least once, of the tuples of a stream that it has settled. */
export interface TupleAckCounters {
  readonly acked: Counter;
  readonly failed: Counter;
  /** From the moment at which the task took the tuple's set until it was acked. */
  readonly processLatencyNs: Mean;
  readonly processLatencies: Histogram | undefined;
  readonly failLatencyNs: Mean;
}

/** What a spout counts, under at least once, of the messages of one of its streams. */
export interface MessageCounters {
  readonly acked: Counter;
  readonly failed: Counter;
  /** Of those failed, what was not settled in time. */
  readonly timedOut: Counter;
  /** From the emit until the task heard of it. */
  readonly completeLatencyNs: Mean;
  readonly completeLatencies: Histogram | undefined;
  readonly failLatencyNs: Mean;
}

/** What a spout counts of its calls of `nextTuple`. */
export interface NextTupleCounters {
  readonly called: Counter;
  readonly latencyNs: Mean;
  readonly latencies: Histogram | undefined;
}

export class TaskCounters {
  readonly acked: Counter;
  readonly failed: Counter;
  /** Chooses the calls of the component that are timed. */
  readonly sampler: LatencySampler;
  /** Chooses the acks whose latency goes into a histogram; a mean has all of them. */
  readonly ackSampler: LatencySampler;
  readonly #registry: MetricsRegistry;
  readonly #hasHistograms: boolean;

  /** `seed` is any number; see LatencySampler. */
  constructor(registry: MetricsRegistry, hasHistograms = false, seed = 1) {
    this.#registry = registry;
    this.#hasHistograms = hasHistograms;
    this.sampler = new LatencySampler(seed, hasHistograms);
    this.ackSampler = new LatencySampler(-seed, hasHistograms);
    this.acked = registry.counter('__ack-count/default');
    this.failed = registry.counter('__fail-count/default');
  }

  emitted(stream: StreamName): Counter {
    return this.#registry.counter(`__emit-count/${stream}`);
  }

  input(component: ComponentName, stream: StreamName): InputCounters {
    const key = `${component}/${stream}`;
    return {
      executed: this.#registry.counter(`__execute-count/${key}`),
      executeTimeNs: this.#registry.counter(`__execute-time-ns/${key}`),
      executeLatencyNs: this.#registry.mean(`__execute-latency/${key}`),
      executeLatencies: this.#histogram(`__execute-latency/${key}`),
      queueLatencies: this.#histogram(`__in-queue-latency/${key}`),
      failed: this.#registry.counter(`__fail-count/${key}`),
    };
  }

  tupleAcks(component: ComponentName, stream: StreamName): TupleAckCounters {
    const key = `${component}/${stream}`;
    return {
      acked: this.#registry.counter(`__ack-count/${key}`),
      failed: this.#registry.counter(`__fail-count/${key}`),
      processLatencyNs: this.#registry.mean(`__process-latency/${key}`),
      processLatencies: this.#histogram(`__process-latency/${key}`),
      failLatencyNs: this.#registry.mean(`__fail-latency/${key}`),
    };
  }

  messages(stream: StreamName): MessageCounters {
    return {
      acked: this.#registry.counter(`__ack-count/${stream}`),
      failed: this.#registry.counter(`__fail-count/${stream}`),
      timedOut: this.#registry.counter(`__timeout-count/${stream}`),
      completeLatencyNs: this.#registry.mean(`__complete-latency/${stream}`),
      completeLatencies: this.#histogram(`__complete-latency/${stream}`),
      failLatencyNs: this.#registry.mean(`__fail-latency/${stream}`),
    };
  }

  nextTuple(): NextTupleCounters {
    return {
      called: this.#registry.counter('__next-tuple-count'),
      latencyNs: this.#registry.mean('__next-tuple-latency'),
      latencies: this.#histogram('__next-tuple-latency'),
    };
  }

  /** Failed messages of a spout, and tuples that a bolt has failed, by reason. */
  failedFor(kind: FailKind): Counter {
    return this.#registry.counter(`__fail-reason/${kind}`);
  }

  /** How often the component had to wait for room in its gateway's queue. */
  get outQueueFull(): Counter {
    return this.#registry.counter('__out-queue-full-count');
  }

  /** Acks and fails that come for no pending message of a spout. */
  get unknownMessages(): Counter {
    return this.#registry.counter('__settled-unknown-count');
  }

  /** Acks and fails of tuples that had been acked or failed before. */
  get settledTwice(): Counter {
    return this.#registry.counter('__double-ack-count');
  }

  /** Acks and fails of tuples that a lost connection had brought; they are not sent. */
  get settledStale(): Counter {
    return this.#registry.counter('__stale-ack-count');
  }

  #histogram(name: string): Histogram | undefined {
    return this.#hasHistograms ? this.#registry.histogram(name) : undefined;
  }
}
