import { z } from '@hono/zod-openapi';
import type { Snapshot } from './state/snapshot.ts';
import type { TopologyView } from './state/topology-view.ts';
import { refusal } from './tracker-error.ts';

/** The parameters that name one topology, on every path that is about one. */
export const oneTopology = z.object({
  cluster: z.string().openapi({ description: "the topology's cluster" }),
  environ: z.string().openapi({ description: 'its environment' }),
  topology: z.string().openapi({ description: 'its name' }),
  role: z.string().optional().openapi({ description: 'its role; only to make sure' }),
});

export type OneTopology = z.output<typeof oneTopology>;

/**
 * The topology that a request names. Its cluster goes by the name in its record or by the name
 * under which it is tracked.
 *
 * @throws HTTPException 404 without one, 503 while its cluster may have it and is away, 400 when
 *   several fit.
 */
export function findView(snapshot: Snapshot, wanted: OneTopology): TopologyView {
  const { cluster, environ, topology, role } = wanted;
  const all = snapshot.clusters.flatMap(({ topologies }) => topologies);
  const found = all.filter(
    (view) =>
      view.name === topology &&
      view.environ === environ &&
      (view.cluster === cluster || view.trackedCluster === cluster) &&
      (role === undefined || view.role === role),
  );
  const [first, ...others] = found.filter((view) => view.trackedCluster === cluster);
  const [only, ...rest] = first === undefined ? found : [first, ...others];
  if (only === undefined) throw notFound(snapshot, wanted);
  if (rest.length === 0) return only;
  const names = found.map(({ trackedCluster }) => trackedCluster).join(', ');
  throw refusal(400, `several clusters have this topology: ${names}; name one of these`);
}

function notFound({ clusters }: Snapshot, { cluster, role, environ, topology }: OneTopology) {
  const away = clusters.filter(({ store }) => store.at !== 'reachable');
  const place = [cluster, role, environ].filter((part) => part !== undefined).join('/');
  const text = `there is no topology '${topology}' in ${place}`;
  if (away.length === 0) return refusal(404, text);
  const reasons = away.map(({ name, store }) =>
    store.at === 'away' ? `${name} is away: ${store.reason}` : `${name} has not been read yet`,
  );
  return refusal(503, `${text}, as far as is known; ${reasons.join('; ')}`);
}
