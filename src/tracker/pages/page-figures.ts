import { z } from '@hono/zod-openapi';
import { lastError, type PageRange, type TopologyFigures } from '../metrics/figures-schema.ts';
import type { TopologyView } from '../state/topology-view.ts';

/*
  The part of the pages that comes from metrics. Whatever is not known is null, with the reason in
  words; nothing here ever holds a page up for longer than its own time limit.
*/

const perSecond = z.number().nullable().openapi({ description: 'per second; null: not known' });

/** Of one topology in the list of all. */
export const summaryFigures = z.object({
  /** Why there are none. */
  reason: z.string().nullable(),
  emitRate: perSecond,
  executeRate: perSecond,
  ackRate: perSecond,
  failRate: perSecond,
  failCount: z.number().nullable(),
  completeLatencyMs: z.number().nullable(),
  /** The share of the time in which spouts were held, 0 to 1. */
  backPressure: z.number().nullable(),
  /** Tuples that a source still has; null where it does not say. */
  lag: z.number().nullable(),
  lastError: lastError.nullable(),
});

export type SummaryFigures = z.output<typeof summaryFigures>;

/** Of a topology of which nothing is known, with the reason. */
export function noFigures(reason: string): SummaryFigures {
  return {
    reason,
    emitRate: null,
    executeRate: null,
    ackRate: null,
    failRate: null,
    failCount: null,
    completeLatencyMs: null,
    backPressure: null,
    lag: null,
    lastError: null,
  };
}

export interface PageFigures {
  /** By `TopologyView.key`; of every view that was given. */
  summaries(views: readonly TopologyView[]): Promise<ReadonlyMap<string, SummaryFigures>>;
  topology(view: TopologyView, range: PageRange): Promise<TopologyFigures>;
}
