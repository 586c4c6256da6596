import { z } from '@hono/zod-openapi';
import type { LinkTemplate } from '../extra-links.ts';
import { executionStateOf, executionStateSchema } from '../answers/execution-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { TopologyView } from '../state/topology-view.ts';
import type { TrackerApp } from '../tracker-app.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/* What there is, in all clusters. */

const names = z.array(z.string());
const many = z.array(z.string()).openapi({ description: 'may be given several times; none: all' });
const role = z.string().optional().openapi({ description: 'none: all' });
const byPlace = { cluster: many, environ: many };

interface Filter {
  readonly cluster: readonly string[];
  readonly environ: readonly string[];
  readonly topology?: readonly string[];
  readonly role?: string | undefined;
}

export function registerClusters(
  app: TrackerApp,
  { snapshots, links }: Pick<TrackerParts, 'snapshots' | 'links'>,
): void {
  app.get({
    path: '/clusters',
    summary: 'The names of the clusters that are tracked.',
    tag: 'clusters',
    query: z.object({}),
    answer: names,
    respond: () => snapshots.now().clusters.map(({ name }) => name),
  });
  app.get({
    path: '/machines',
    summary: 'The hosts of topologies, by cluster, environment and topology.',
    tag: 'clusters',
    query: z.object({ ...byPlace, topology: many, role }),
    answer: z.record(z.string(), z.record(z.string(), z.record(z.string(), names))),
    respond: (filter) => {
      const tree = new NamedTree<string[]>();
      for (const view of matching(snapshots.now(), filter)) {
        tree.set([view.cluster, view.environ, view.name], hostsOf(view));
      }
      return tree.asObject() as Record<string, Record<string, Record<string, string[]>>>;
    },
  });
  app.get({
    path: '/topologies',
    summary: 'The names of topologies, by cluster, role and environment.',
    tag: 'clusters',
    query: z.object({ ...byPlace, role }),
    answer: z.record(z.string(), z.record(z.string(), z.record(z.string(), names))),
    respond: (filter) => {
      const tree = new NamedTree<string[]>();
      for (const view of matching(snapshots.now(), filter)) {
        const place = [view.cluster, view.role, view.environ];
        tree.set(place, [...(tree.get(place) ?? []), view.name]);
      }
      return tree.asObject() as Record<string, Record<string, Record<string, string[]>>>;
    },
  });
  registerStates(app, { snapshots, links });
}

type States = Record<string, Record<string, Record<string, z.output<typeof executionStateSchema>>>>;

function registerStates(
  app: TrackerApp,
  {
    snapshots,
    links,
  }: Pick<TrackerParts, 'snapshots'> & { readonly links: readonly LinkTemplate[] },
): void {
  app.get({
    path: '/topologies/states',
    summary: 'How topologies are, by cluster, environment and name.',
    tag: 'clusters',
    query: z.object({ ...byPlace, role }),
    answer: z.record(z.string(), z.record(z.string(), z.record(z.string(), executionStateSchema))),
    respond: (filter) => {
      const tree = new NamedTree<z.output<typeof executionStateSchema>>();
      for (const view of matching(snapshots.now(), filter)) {
        tree.set([view.cluster, view.environ, view.name], executionStateOf(view, links));
      }
      return tree.asObject() as States;
    },
  });
}

/** Those that have nodes: a completed topology is not one of Heron's any more. */
function matching({ clusters }: Snapshot, filter: Filter): readonly TopologyView[] {
  const fits = (wanted: readonly string[] | undefined, ...given: readonly string[]): boolean =>
    wanted === undefined || wanted.length === 0 || given.some((each) => wanted.includes(each));
  return clusters
    .flatMap(({ topologies }) => topologies)
    .filter(
      (view) =>
        view.hasNodes &&
        fits(filter.cluster, view.cluster, view.trackedCluster) &&
        fits(filter.environ, view.environ) &&
        fits(filter.topology, view.name) &&
        (filter.role === undefined || filter.role === view.role),
    );
}

function hostsOf({ physicalPlan }: TopologyView): string[] {
  return [...new Set((physicalPlan?.streamManagers ?? []).map(({ host }) => host))];
}

/** Values below names below names; a name may be any text, also `__proto__`. */
class NamedTree<Value> {
  readonly #values = new Map<string, Map<string, Map<string, Value>>>();

  get([first, second, third]: readonly string[]): Value | undefined {
    return this.#values
      .get(first ?? '')
      ?.get(second ?? '')
      ?.get(third ?? '');
  }

  set([first = '', second = '', third = '']: readonly string[], value: Value): void {
    const below = this.#values.get(first) ?? new Map<string, Map<string, Value>>();
    const last = below.get(second) ?? new Map<string, Value>();
    this.#values.set(first, below.set(second, last.set(third, value)));
  }

  asObject(): object {
    return Object.fromEntries(
      Array.from(this.#values, ([first, below]) => [
        first,
        Object.fromEntries(
          Array.from(below, ([second, last]) => [second, Object.fromEntries(last)]),
        ),
      ]),
    );
  }
}
