import type { Counter, MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { FailKind } from '../model/fail-reason.ts';
import { reliabilityOf } from '../model/reliability.ts';
import type { Settings } from '../model/settings.ts';
import { failKindOf } from '../wire/fail-detail.ts';

/*
  What a stream manager counts of acks; the first block is Heron's, with Heron's names. An ack that
  was folded out of several (ack-fold.ts) counts once.
*/

export interface AtLeastOnceOptions {
  /** `topology.message.timeout.secs`; undefined when time-outs are off. */
  readonly timeoutMs: number | undefined;
  readonly traffic: AckTraffic;
}

/** What a topology's settings ask for; undefined at most once. */
export function atLeastOnce(
  settings: Settings,
  metrics: MetricsRegistry,
): AtLeastOnceOptions | undefined {
  const config = { get: (key: string) => settings.text(key) };
  if (reliabilityOf(config) === 'ATMOST_ONCE') return undefined;
  const timeoutMs = settings.get('topology.message.timeout.secs') * 1_000;
  const hasTimeouts = settings.get('topology.enable.message.timeouts');
  return { timeoutMs: hasTimeouts ? timeoutMs : undefined, traffic: new AckTraffic(metrics) };
}

export class AckTraffic {
  readonly acksToInstances: Counter;
  readonly failsToInstances: Counter;
  readonly acksToInstancesLost: Counter;
  readonly failsToInstancesLost: Counter;
  readonly acksFromPeers: Counter;
  readonly failsFromPeers: Counter;

  /** Of a tree that is over or was never made, or of a task that is no spout. */
  readonly acksWithoutTree: Counter;
  readonly failsWithoutTree: Counter;
  readonly treesExpired: Counter;
  readonly #failsByKind = new Map<FailKind, Counter>();
  readonly #metrics: MetricsRegistry;

  constructor(metrics: MetricsRegistry) {
    this.#metrics = metrics;
    this.acksToInstances = metrics.counter('__server/__ack_tuples_to_workers');
    this.failsToInstances = metrics.counter('__server/__fail_tuples_to_workers');
    this.acksToInstancesLost = metrics.counter('__server/__ack_tuples_to_workers_lost');
    this.failsToInstancesLost = metrics.counter('__server/__fail_tuples_to_workers_lost');
    this.acksFromPeers = metrics.counter('__server/__ack_tuples_from_stmgrs');
    this.failsFromPeers = metrics.counter('__server/__fail_tuples_from_stmgrs');
    this.acksWithoutTree = metrics.counter('__server/__acks_without_tree');
    this.failsWithoutTree = metrics.counter('__server/__fails_without_tree');
    this.treesExpired = metrics.counter('__server/__trees_expired');
  }

  /** A spout is told of a fail with this FailDetail. */
  countFail(detail: Uint8Array): void {
    const kind = failKindOf(detail);
    let counter = this.#failsByKind.get(kind);
    if (counter === undefined) {
      counter = this.#metrics.counter(`__server/__fail_reason/${kind}`);
      this.#failsByKind.set(kind, counter);
    }
    counter.value += 1;
  }

  /** The live trees of a spout task of this container, and the bytes of memory for them. */
  watchTrees(task: number, trees: { readonly count: number; readonly byteLength: number }): void {
    this.#metrics.gauge(`__live_trees/${task}`, () => trees.count);
    this.#metrics.gauge(`__live_trees_bytes/${task}`, () => trees.byteLength);
  }

  /** The task has left the plan. */
  unwatchTrees(task: number): void {
    this.#metrics.retire(`__live_trees/${task}`, `__live_trees_bytes/${task}`);
  }
}
