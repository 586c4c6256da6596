import { z } from '@hono/zod-openapi';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import { readRegistrations } from '../topology-client/master-client.ts';
import { whoActs } from './actions/access.ts';
import { DOCS_POLICY, docsPage } from './docs-page.ts';
import type { LinkTemplate } from './extra-links.ts';
import { MetricFigures } from './metrics/metric-figures.ts';
import { MetricsSource } from './metrics/metrics-source.ts';
import { refusalOfRequest, SAFETY_HEADERS } from './request-rules.ts';
import { type ActionParts, registerActions } from './routes/actions.ts';
import { registerClusters } from './routes/clusters.ts';
import { registerContainers } from './routes/containers.ts';
import { registerExceptions } from './routes/exceptions.ts';
import { registerMetrics } from './routes/metrics.ts';
import { registerPages } from './routes/pages.ts';
import { registerTopologies } from './routes/topologies.ts';
import type { SnapshotSource, Subscription } from './state/snapshot.ts';
import type { AskRegistrations } from './state/registration-watch.ts';
import { SnapshotStore } from './state/snapshot-store.ts';
import type { TrackedCluster } from './state/tracked-cluster.ts';
import { TrackerApp } from './tracker-app.ts';
import { failureOf, refusal } from './tracker-error.ts';
import type { TrackerParts } from './tracker-parts.ts';
import { listenFor, type ListeningServer, type TrackerAddress } from './tracker-server.ts';

/*
  The Tracker: Heron's REST interface to what the state stores and the topologies' own ports say,
  and pages and events for a console on top.

    state stores ──► snapshot (state/) ──► answers/ ──► routes/topologies, clusters ─┐
                         │                 pages/   ──► routes/pages ◄── figures     ├─► app ─► HTTP
    topologies' ports ───┴──────────────── metrics/ ──► routes/metrics, exceptions   │
                          shell/ ─────────────────────► routes/containers ───────────┘

  K1. What is stored is never read in a request: a store that is away costs nobody any time.
  K2. Nothing is changed anywhere, unless whoever starts the Tracker hands it actions.
  K3. Whatever arrives, the answer is a status and a sentence, and the process goes on.
*/

export interface TrackerOptions {
  readonly clusters: readonly TrackedCluster[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Links for people that go with each topology. */
  readonly links?: readonly LinkTemplate[];
  /** Names that the Host header may have beside the loopback's and numeric addresses. */
  readonly hostNames?: readonly string[];
  /** What may be done to topologies, and by whom; nothing unless given. */
  readonly actions?: ActionParts;
  /** Asks a topology master which of its stream managers are missing; by HTTP unless given. */
  readonly askRegistrations?: AskRegistrations;
}

export interface Tracker {
  readonly snapshots: SnapshotSource;
  /** Answers one request; for tests and for whoever brings a server of his own. */
  fetch(request: Request): Promise<Response>;
  /**
   * Listens. Port 0 takes a free one.
   *
   * @throws EngineError PORT_IN_USE, or CONNECTION_LOST when there is no such address here.
   */
  listen(address: TrackerAddress): Promise<TrackerAddress>;
  /** Ends all connections and watches; the state managers are their owner's. Idempotent. */
  close(): Promise<void>;
}

/** Begins to follow the clusters; answers from the first moment on, with what is known by then. */
export function createTracker(options: TrackerOptions): Tracker {
  return new RunningTracker(options);
}

const MS_PER_SECOND = 1000;

class RunningTracker implements Tracker {
  readonly snapshots: SnapshotStore;
  readonly #options: TrackerOptions;
  readonly #app = new TrackerApp();
  readonly #feeds: Subscription;
  readonly #servers = new Set<ListeningServer>();

  constructor(options: TrackerOptions) {
    this.#options = options;
    const { clock, logger, links = [], actions } = options;
    this.snapshots = new SnapshotStore({ askRegistrations: readRegistrations, ...options });
    const metrics = new MetricsSource(clock);
    const parts: TrackerParts = {
      snapshots: this.snapshots,
      clock,
      logger,
      metrics,
      figures: new MetricFigures(metrics, clock),
      links,
      admit: ({ headers }) => {
        whoActs(headers.get('authorization') ?? undefined, actions?.tokens);
      },
    };
    this.#guard();
    registerClusters(this.#app, parts);
    registerTopologies(this.#app, parts);
    registerMetrics(this.#app, parts);
    registerExceptions(this.#app, parts);
    registerContainers(this.#app, parts);
    this.#feeds = registerPages(this.#app, parts);
    if (actions !== undefined) registerActions(this.#app, parts, actions);
    this.#describe();
  }

  async fetch(request: Request): Promise<Response> {
    return await this.#app.hono.fetch(request);
  }

  async listen(address: TrackerAddress): Promise<TrackerAddress> {
    const server = await listenFor(this.#app.hono, address);
    this.#servers.add(server);
    return server.address;
  }

  async close(): Promise<void> {
    this.snapshots.close();
    this.#feeds.close();
    await Promise.all(Array.from(this.#servers, (server) => server.close()));
  }

  /** What holds for every request and every answer. */
  #guard(): void {
    const { clock, logger, hostNames = [] } = this.#options;
    const { hono } = this.#app;
    hono.use(async (context, next) => {
      const startedMs = clock.now();
      const { method, raw } = context.req;
      const reason = refusalOfRequest(method, raw.headers, hostNames);
      if (reason === undefined) await next();
      else context.res = failedAnswer(context.req.path, refusal(403, reason));
      const { headers } = context.res;
      for (const [name, value] of Object.entries(SAFETY_HEADERS)) {
        if (!headers.has(name)) context.header(name, value);
      }
      const seconds = (clock.now() - startedMs) / MS_PER_SECOND;
      context.header('x-process-time', seconds.toFixed(6));
    });
    hono.onError((error, context) => {
      const { status } = failureOf(error);
      const { path } = context.req;
      if (status === 500) logger.error(`a request failed: ${messageOf(error)}`, { path, error });
      return failedAnswer(path, error);
    });
    hono.notFound((context) => {
      const { path } = context.req;
      return failedAnswer(path, refusal(404, `there is nothing at ${path}; /docs tells what is`));
    });
  }

  /** Last, so that it knows all paths. */
  #describe(): void {
    const { hono } = this.#app;
    this.#app.stream({
      path: '/health',
      summary: 'Whether the Tracker answers.',
      tag: 'clusters',
      query: z.object({}),
      contentType: 'text/plain',
      respond: () => new Response('ok'),
    });
    const document = hono.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Heron Tracker', version: ENGINE_VERSION },
    });
    const page = docsPage(document);
    hono.get('/openapi.json', (context) => context.json(document));
    for (const path of ['/', '/docs']) {
      hono.get(path, (context) =>
        context.html(page, 200, { 'Content-Security-Policy': DOCS_POLICY }),
      );
    }
  }
}

/** In Heron's form on Heron's paths, in ours on ours. */
function failedAnswer(path: string, error: unknown): Response {
  const { status, code, message } = failureOf(error);
  const isOurs = path.startsWith('/api/');
  const body = isOurs ? { error: { code, message } } : `request failed: ${message}`;
  return Response.json(body, { status });
}
