import { z } from '@hono/zod-openapi';
import type { TopologyView } from '../state/topology-view.ts';

/* Where the topology master and the scheduler of a topology are. */

export const masterLocationSchema = z.object({
  name: z.string().nullable(),
  id: z.string().nullable(),
  host: z.string().nullable(),
  controller_port: z.number().nullable(),
  server_port: z.number().nullable(),
  stats_port: z.number().nullable(),
});

export const schedulerLocationSchema = z.object({
  name: z.string().nullable(),
  http_endpoint: z.string().nullable(),
  job_page_link: z.string().nullable(),
});

export function masterLocationOf({ master }: TopologyView): z.output<typeof masterLocationSchema> {
  return {
    name: master?.topologyName ?? null,
    id: master?.topologyId ?? null,
    host: master?.host ?? null,
    controller_port: master?.controllerPort ?? null,
    server_port: master?.serverPort ?? null,
    stats_port: master?.statsPort ?? null,
  };
}

export function schedulerLocationOf({
  scheduler,
}: TopologyView): z.output<typeof schedulerLocationSchema> {
  return {
    name: scheduler?.topologyName ?? null,
    http_endpoint: scheduler?.httpEndpoint ?? null,
    job_page_link: scheduler === undefined ? null : (scheduler.jobPageLinks[0] ?? ''),
  };
}
