import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { reliabilityOf } from '../../model/reliability.ts';
import type { SeriesPart, SeriesQuestion } from '../../topology-client/series.ts';
import { noFigures, type SummaryFigures } from '../pages/page-figures.ts';
import type { TopologyView } from '../state/topology-view.ts';
import {
  type ComponentMetrics,
  countsIn,
  metricsOf,
  type WeighedMetric,
} from './component-metrics.ts';
import { FigureTables, greatestOf, shown, sumOf } from './figure-tables.ts';
import { lastErrorOf, newestFirst } from './last-error.ts';
import type { FoundSeries, MetricsSource } from './metrics-source.ts';
import { within } from './time-limit.ts';

/*
  One line for each of many topologies. What is known of one is shown at once and asked for again
  behind the page, so that a topology whose store does not answer holds up nobody.
*/

const MINUTES = 3;
const AGAIN_AFTER_MS = 1_000;
/** Of topologies that no page has shown for so long nothing is kept. */
const KEPT_MS = 60_000;
const NS_PER_MS = 1e6;
const MS_PER_SECOND = 1_000;
const STREAM_MANAGER = '__stmgr__';
const HELD = '__server/__time_spent_back_pressure_aggr';
const LAG = 'lag';

interface Known {
  figures: SummaryFigures;
  askedAtMs: number;
  shownAtMs: number;
  asking: Promise<void> | undefined;
}

export class TopologySummaries {
  readonly #source: MetricsSource;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(source: MetricsSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Waits up to `limitMs` for those that nothing is known of. */
  async of(
    views: readonly TopologyView[],
    limitMs: number,
  ): Promise<ReadonlyMap<string, SummaryFigures>> {
    this.#forgetOld();
    const first = views.flatMap((view) => this.#ask(view) ?? []);
    if (first.length > 0) await within(this.#clock, limitMs, Promise.all(first));
    return new Map(
      views.map((view) => [view.key, this.#known.get(view.key)?.figures ?? noFigures('not asked')]),
    );
  }

  /** A promise when nothing is known yet; it never rejects. */
  #ask(view: TopologyView): Promise<void> | undefined {
    const nowMs = this.#clock.now();
    let known = this.#known.get(view.key);
    const isFirst = known === undefined;
    if (known === undefined) {
      const figures = noFigures('its metrics have not answered yet');
      known = { figures, askedAtMs: Number.NEGATIVE_INFINITY, shownAtMs: nowMs, asking: undefined };
      this.#known.set(view.key, known);
    }
    known.shownAtMs = nowMs;
    if (known.asking === undefined && nowMs - known.askedAtMs >= AGAIN_AFTER_MS) {
      known.askedAtMs = nowMs;
      known.asking = this.#refresh(view, known);
    }
    return isFirst ? known.asking : undefined;
  }

  async #refresh(view: TopologyView, known: Known): Promise<void> {
    try {
      known.figures = summaryOf(view, await this.#source.series(view, questionOf(view)));
    } catch (error) {
      known.figures = noFigures(messageOf(error));
    } finally {
      known.asking = undefined;
    }
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.now() - KEPT_MS;
    for (const [key, { shownAtMs, asking }] of this.#known) {
      if (shownAtMs < oldestMs && asking === undefined) this.#known.delete(key);
    }
  }
}

/** One part for each component, then what sources have left, then how long spouts were held. */
function questionOf({ topology }: TopologyView): SeriesQuestion {
  const components = topology?.components ?? [];
  const parts = components.map((component): SeriesPart => {
    const metrics = metricsOf(component);
    const counts = countsIn(metrics);
    const means = metrics.completeLatencies;
    return {
      shape: 'minutes-of-all',
      components: [component.name],
      metrics: [...counts, ...means.map(({ mean }) => mean)],
      weights: [...counts.map(() => ''), ...means.map(({ count }) => count)],
    };
  });
  const spouts = components.filter(({ kind }) => kind === 'spout').map(({ name }) => name);
  const lag: SeriesPart = {
    shape: 'totals',
    components: spouts,
    metrics: [LAG, `${LAG}/*`],
  };
  const held: SeriesPart = { shape: 'totals', components: [STREAM_MANAGER], metrics: [HELD] };
  return {
    span: { kind: 'minutes', minutes: MINUTES },
    parts: [...parts, ...(spouts.length > 0 ? [lag] : []), held],
    exceptionsMax: 1,
  };
}

interface ComponentSums {
  readonly isSpout: boolean;
  readonly emitted: number;
  readonly executed: number;
  readonly acked: number;
  readonly failed: number;
  /** Nanoseconds of all trees that are complete, and how many they are. */
  readonly completeNs: number;
  readonly completed: number;
}

function summaryOf(view: TopologyView, found: FoundSeries): SummaryFigures {
  const { tables, errors, startSeconds, endSeconds } = found;
  const seconds = Math.max(1, endSeconds - startSeconds);
  const components = view.topology?.components ?? [];
  const sums = components.map((component, index): ComponentSums => {
    const table = tables.find(({ part }) => part === index);
    const minutes = FigureTables.ofMinutes(table?.columns ?? 0, table?.rows ?? []);
    return sumsOf(component.kind === 'spout', metricsOf(component), minutes);
  });
  const spouts = sums.filter(({ isSpout }) => isSpout);
  const bolts = sums.filter(({ isSpout }) => !isSpout);
  const isAcked = reliabilityOf(view.topology?.config ?? new Map()) !== 'ATMOST_ONCE';
  const failed = total(isAcked ? spouts : bolts, ({ failed: count }) => count);
  const ofMetric = (wanted: (metric: string) => boolean): Float64Array =>
    Float64Array.from(
      tables.flatMap(({ rows }) => rows.filter(({ metric }) => wanted(metric))),
      ({ points }) => points[0] ?? Number.NaN,
    );
  const lag = ofMetric((metric) => metric === LAG || metric.startsWith(`${LAG}/`));
  const heldMs = greatestOf(ofMetric((metric) => metric === HELD));
  const newest = errors.flatMap((one) =>
    one.newest.map((error) => lastErrorOf(one.component, error)),
  );
  const completeNs = total(spouts, ({ completeNs: time }) => time);
  return {
    reason: null,
    emitRate: shown(total(spouts, ({ emitted }) => emitted) / seconds),
    executeRate: shown(total(bolts, ({ executed }) => executed) / seconds),
    ackRate: isAcked ? shown(total(spouts, ({ acked }) => acked) / seconds) : null,
    failRate: shown(failed / seconds),
    failCount: shown(failed),
    completeLatencyMs: shown(completeNs / total(spouts, ({ completed }) => completed) / NS_PER_MS),
    backPressure: shown(Math.min(1, heldMs / (seconds * MS_PER_SECOND))),
    lag: shown(sumOf(lag)),
    lastError: newestFirst(newest).at(0) ?? null,
  };
}

function sumsOf(isSpout: boolean, metrics: ComponentMetrics, minutes: FigureTables): ComponentSums {
  const of = (names: readonly string[]): number => sumOf(minutes.sum(names));
  const counted = (means: readonly WeighedMetric[]) => means.map(({ count }) => count);
  return {
    isSpout,
    emitted: of(metrics.emitCounts),
    executed: of(metrics.executeCounts),
    acked: of(metrics.ackCounts),
    failed: of(metrics.failCounts),
    completeNs: sumOf(minutes.products(metrics.completeLatencies)),
    completed: of(counted(metrics.completeLatencies)),
  };
}

function total(sums: readonly ComponentSums[], of: (sums: ComponentSums) => number): number {
  return sumOf(Float64Array.from(sums, of));
}
