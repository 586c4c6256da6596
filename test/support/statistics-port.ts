import { silentLogger } from '../../src/base/logger.ts';
import type { Clock } from '../../src/base/clock.ts';
import { MetricsStore } from '../../src/metrics-store/metrics-store.ts';
import { statsHandler } from '../../src/metrics-store/stats-handler.ts';
import type { StatsDialect } from '../../src/metrics-store/stats-answers.ts';
import { type HttpServer, listenHttp, textAnswer } from '../../src/net/http-server.ts';
import { Histogram } from '../../src/metrics/histogram.ts';
import type { MetricKind } from '../../src/metrics/metrics-registry.ts';
import { wireKindOf } from '../../src/wire/metric-kind.ts';
import { PublishMetricsToMaster } from '../../src/wire/messages.ts';

export interface StatisticsPortOptions {
  readonly clock: Clock;
  readonly components: readonly string[];
  readonly dialect?: StatsDialect;
  /** True: it knows Heron's paths only. */
  readonly isHerons?: boolean;
}

export interface StatisticsPortAddress {
  readonly host: string;
  readonly statsPort: number;
  readonly serverPort: number;
  readonly controllerPort: number;
}

/** A metrics store behind a real HTTP port, as a metrics cache and a topology master have it. */
export class StatisticsPort implements AsyncDisposable {
  readonly store: MetricsStore;
  /** The paths that were asked, in order. */
  readonly asked: string[];
  readonly #server: HttpServer;

  constructor(store: MetricsStore, server: HttpServer, asked: string[]) {
    this.store = store;
    this.#server = server;
    this.asked = asked;
  }

  static async open(options: StatisticsPortOptions): Promise<StatisticsPort> {
    const { clock, dialect = 'metrics-cache', isHerons = false } = options;
    const store = new MetricsStore(clock, { joinsRepeats: dialect === 'metrics-cache' });
    const components = new Set(options.components);
    const asked: string[] = [];
    const answer = statsHandler(() => ({
      metrics: store.metrics,
      exceptions: store.exceptions,
      histograms: store.histograms,
      components,
      nowSeconds: store.nowSeconds,
      sinceSeconds: store.sinceSeconds,
      dialect,
    }));
    const server = await listenHttp({
      host: '127.0.0.1',
      port: 0,
      bodyBytesMax: 1024 * 1024,
      logger: silentLogger,
      handle: (request) => {
        asked.push(request.path);
        const isUnknown = isHerons && request.path === '/series';
        return isUnknown ? textAnswer(400, 'Not Supported') : answer(request);
      },
    });
    return new StatisticsPort(store, server, asked);
  }

  get address(): StatisticsPortAddress {
    return { host: '127.0.0.1', statsPort: this.#server.port, serverPort: 1, controllerPort: 1 };
  }

  /** As a metrics manager publishes: metrics of one instance. */
  publish(
    component: string,
    instance: string,
    metrics: Readonly<Record<string, number>>,
    kind: MetricKind = 'count',
  ): void {
    const data = Object.entries(metrics).map(([name, value]) => ({
      componentName: component,
      instanceId: instance,
      name,
      value: String(value),
      timestamp: 0n,
      ...wireKindOf({ kind }),
    }));
    this.store.add(PublishMetricsToMaster.create({ metrics: data }));
  }

  /** As a metrics manager publishes: how long each of some things took. */
  measure(component: string, name: string, times: readonly number[]): void {
    const histogram = new Histogram();
    for (const time of times) histogram.record(time);
    this.store.histograms.add(component, name, histogram, this.store.nowSeconds);
  }

  /** As a metrics manager publishes: something that was thrown. */
  throwIn(component: string, instance: string, stacktrace: string, lasttime = 'later'): void {
    const thrown = {
      componentName: component,
      instanceId: instance,
      hostname: 'host',
      stacktrace,
      firsttime: 'early',
      lasttime,
      count: 2,
      logging: '',
    };
    this.store.add(PublishMetricsToMaster.create({ exceptions: [thrown] }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}
