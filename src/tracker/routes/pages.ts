import { z } from '@hono/zod-openapi';
import { assertDefined } from '../../base/assert.ts';
import { findView, type OneTopology, oneTopology } from '../find-view.ts';
import { PAGE_RANGES, type PageRange } from '../metrics/figures-schema.ts';
import { PageFeed } from '../pages/page-feed.ts';
import { topologiesPageOf, topologiesPageSchema } from '../pages/topologies-page.ts';
import { topologyPageSchema, topologyPageText } from '../pages/topology-page.ts';
import type { Subscription } from '../state/snapshot.ts';
import { JsonText, type TrackerApp } from '../tracker-app.ts';
import { refusal } from '../tracker-error.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/*
  Whole pages for a console: one question for each, and the same as events for those who stay.
*/

/** As many people as look at one Tracker at a time, each with a few windows. */
const READERS_MAX = 200;

const range = z
  .enum(PAGE_RANGES)
  .default('10m')
  .openapi({ description: 'the time that figures and lines cover' });

/** The streams end when the subscription is closed. */
export function registerPages(app: TrackerApp, parts: TrackerParts): Subscription {
  const feeds = new PageFeeds(parts);
  const topologies = (): Promise<string> => topologiesText(parts);
  const topology = (wanted: OneTopology & { readonly range: PageRange }): Promise<string> =>
    topologyText(parts, wanted);
  const ofOne = oneTopology.extend({ range });
  app.get({
    path: '/api/pages/topologies',
    summary: 'All topologies of all clusters.',
    tag: 'pages',
    query: z.object({}),
    answer: topologiesPageSchema,
    respond: async () => new JsonText(await topologies()),
  });
  app.get({
    path: '/api/pages/topology',
    summary: 'Everything about one topology.',
    tag: 'pages',
    query: ofOne,
    answer: topologyPageSchema,
    respond: async (wanted) => new JsonText(await topology(wanted)),
  });
  app.stream({
    path: '/api/pages/topologies/events',
    summary: 'The same page again whenever it changes, at most once a second.',
    tag: 'pages',
    query: z.object({}),
    contentType: 'text/event-stream',
    respond: () => feeds.follow('topologies', topologies),
  });
  app.stream({
    path: '/api/pages/topology/events',
    summary: 'The same page again whenever it changes, at most once a second.',
    tag: 'pages',
    query: ofOne,
    contentType: 'text/event-stream',
    respond: (wanted) => {
      // Whoever asks for what is not there hears so at once.
      const { key } = findView(parts.snapshots.now(), wanted);
      return feeds.follow(`topology ${wanted.range} ${key}`, () => topology(wanted));
    },
  });
  return feeds;
}

async function topologiesText({ snapshots, figures }: TrackerParts): Promise<string> {
  const snapshot = snapshots.now();
  const views = snapshot.clusters.flatMap(({ topologies }) => topologies);
  return JSON.stringify(topologiesPageOf(snapshot, await figures.summaries(views)));
}

async function topologyText(
  { snapshots, figures }: TrackerParts,
  { range: wantedRange, ...wanted }: OneTopology & { readonly range: PageRange },
): Promise<string> {
  const snapshot = snapshots.now();
  const view = findView(snapshot, wanted);
  const cluster = snapshot.clusters.find(({ name }) => name === view.trackedCluster);
  return topologyPageText(
    view,
    assertDefined(cluster, 'a view belongs to a cluster'),
    await figures.topology(view, wantedRange),
  ).text;
}

/** One feed for each page that anybody follows. */
class PageFeeds implements Subscription {
  readonly #parts: Pick<TrackerParts, 'clock' | 'logger'>;
  readonly #feeds = new Map<string, PageFeed>();

  constructor(parts: Pick<TrackerParts, 'clock' | 'logger'>) {
    this.#parts = parts;
  }

  /** @throws HTTPException 503 when there are too many readers. */
  follow(key: string, write: () => Promise<string>): Response {
    const all = [...this.#feeds.values()].reduce((sum, { readers }) => sum + readers, 0);
    if (all >= READERS_MAX) throw refusal(503, `${all} readers follow pages, which is the limit`);
    const { clock, logger } = this.#parts;
    let feed = this.#feeds.get(key);
    if (feed === undefined) {
      feed = new PageFeed({ write, clock, logger, onIdle: () => void this.#feeds.delete(key) });
      this.#feeds.set(key, feed);
    }
    return new Response(feed.follow(), { headers: { 'Content-Type': 'text/event-stream' } });
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }
}
