import type { Clock } from '../../base/clock.ts';
import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import { type HeronFacts, heronSeries } from '../../topology-client/heron-series.ts';
import {
  type ExceptionQuestion,
  type KeptException,
  MetricsCacheClient,
  type StatisticsPort,
} from '../../topology-client/metrics-cache-client.ts';
import type { SeriesAnswer, SeriesQuestion } from '../../topology-client/series.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { RecentAnswers } from './recent-answers.ts';
import { Turns } from './turns.ts';

/*
  Where the Tracker gets numbers from: the metrics cache of a topology, or its topology master where
  there is no cache or it does not answer.

  M1. The same question, asked again while its answer is under way or a second old, costs nothing:
      any number of viewers is one question. That holds for failures, too.
  M2. At most ASKED_AT_ONCE questions are under way; the others wait for their turn.
  M3. A question ends after TIMEOUT_MS with a reason, whatever the other side does. It goes on when
      the one who asked it has gone, as others may wait for the same answer.
*/

/** Stores answer in milliseconds; in some tens for the largest topologies. */
const TIMEOUT_MS = 5_000;
const FRESH_MS = 1_000;
const ASKED_AT_ONCE = 16;
/** Beyond this nobody gets an answer in time. */
const WAITING_MAX = 2_000;
/** Ports known to know Heron's messages only. */
const HERONS_MAX = 1_000;
/** For the bound on what is kept: what one exception weighs against a number of eight bytes. */
const ERROR_WEIGHT = 500;

export type MetricsOrigin = 'metrics-cache' | 'topology-master';

export interface FoundSeries extends SeriesAnswer {
  readonly origin: MetricsOrigin;
  /** Whether whoever answered knows all questions, or Heron's only. */
  readonly isHerons: boolean;
}

interface Store extends StatisticsPort {
  readonly origin: MetricsOrigin;
}

/** Any number of calls may be under way. */
export class MetricsSource {
  readonly #clock: Clock;
  readonly #turns = new Turns(ASKED_AT_ONCE, WAITING_MAX);
  readonly #series: RecentAnswers<FoundSeries>;
  readonly #exceptions: RecentAnswers<readonly KeptException[]>;
  readonly #herons = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    const weight = ({ tables, errors }: FoundSeries): number =>
      tables.reduce((sum, { rows, columns }) => sum + rows.length * (columns + 1), 0) +
      errors.reduce((sum, { newest }) => sum + newest.length * ERROR_WEIGHT, 0);
    this.#series = new RecentAnswers(clock, FRESH_MS, weight);
    const ofErrors = (found: readonly KeptException[]): number => found.length * ERROR_WEIGHT;
    this.#exceptions = new RecentAnswers(clock, FRESH_MS, ofErrors);
  }

  /**
   * @throws EngineError TOPOLOGY_NOT_READY when there is nobody to ask, INVALID_ARGUMENT when it is
   *   too much, CONNECTION_LOST or REQUEST_TIMEOUT when nobody answers; the message says who.
   */
  series(view: TopologyView, question: SeriesQuestion): Promise<FoundSeries> {
    return this.#series.get(keyOf(view, question), () =>
      this.#askStores(view, (client, store) => this.#seriesFrom(client, store, { view, question })),
    );
  }

  /** As a promise of `series`. */
  exceptions(view: TopologyView, question: ExceptionQuestion): Promise<readonly KeptException[]> {
    return this.#exceptions.get(keyOf(view, question), () =>
      this.#askStores(view, (client) => client.exceptions(question)),
    );
  }

  async #seriesFrom(
    client: MetricsCacheClient,
    { host, statsPort, origin }: Store,
    { view, question }: { readonly view: TopologyView; readonly question: SeriesQuestion },
  ): Promise<FoundSeries> {
    const port = `${view.id} ${host} ${statsPort}`;
    if (!this.#herons.has(port)) {
      const answer = await client.series(question);
      if (answer !== undefined) return { ...answer, origin, isHerons: false };
      if (this.#herons.size >= HERONS_MAX) this.#herons.clear();
      this.#herons.add(port);
    }
    const facts = heronFacts(view, Math.floor(this.#clock.wallNow() / 1_000));
    return { ...(await heronSeries(client, question, facts)), origin, isHerons: true };
  }

  async #askStores<Answer>(
    view: TopologyView,
    ask: (client: MetricsCacheClient, store: Store) => Promise<Answer>,
  ): Promise<Answer> {
    const stores = storesOf(view);
    if (stores.length === 0) {
      const text = `'${view.name}' has neither a topology master nor a metrics cache at the moment`;
      throw environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
    }
    const failures: string[] = [];
    for (const store of stores) {
      try {
        const client = new MetricsCacheClient(store, { timeoutMs: TIMEOUT_MS });
        return await this.#turns.take(() => ask(client, store));
      } catch (error) {
        if (!hasCode(error, 'CONNECTION_LOST', 'REQUEST_TIMEOUT', 'PACKET_MALFORMED')) throw error;
        failures.push(`the ${store.origin.replace('-', ' ')}: ${messageOf(error)}`);
      }
    }
    throw environmentError('CONNECTION_LOST', failures.join('; '), { retryable: true });
  }
}

function keyOf(view: TopologyView, question: unknown): string {
  return JSON.stringify([view.key, view.id, question]);
}

/** The cache first: asking it costs the topology nothing. */
function storesOf({ metricsCache, master }: TopologyView): Store[] {
  const stores: Store[] = [];
  if (metricsCache !== undefined && metricsCache.statsPort > 0) {
    const { host, statsPort } = metricsCache;
    stores.push({ host, statsPort, origin: 'metrics-cache' });
  }
  if (master !== undefined && master.statsPort > 0) {
    const { host, statsPort } = master;
    stores.push({ host, statsPort, origin: 'topology-master' });
  }
  return stores;
}

const BY_INSTANCE = '__time_spent_back_pressure_by_compid/';

function heronFacts({ topology, physicalPlan }: TopologyView, nowSeconds: number) {
  const components: readonly string[] = (topology?.components ?? []).map(({ name }) => name);
  const instances = physicalPlan?.instances ?? [];
  return {
    nowSeconds,
    components,
    namesBelow: (beginning) =>
      beginning === BY_INSTANCE ? instances.map(({ id }) => `${BY_INSTANCE}${id}`) : [],
  } satisfies HeronFacts;
}
