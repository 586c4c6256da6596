import { isoOrNull } from '../read-status.ts';
import type { TopologyRow, TopPage } from './top-model.ts';

/** One line of `heron top --json`. */
export function pageJson(page: TopPage): object {
  const at = isoOrNull(page.atMs);
  if (page.kind === 'overview') {
    const topologies = page.topologies.map(rowJson);
    return { at, place: page.place, topologies };
  }
  const { row, components, tasks } = page.topology;
  return {
    at,
    ...rowJson(row),
    components,
    tasks: tasks.map(({ host, ...task }) => ({ ...task, host: host ?? null })),
  };
}

function rowJson({ sinceMs, unknownBecause, ...row }: TopologyRow): object {
  return { ...row, since: isoOrNull(sinceMs), unknownBecause: unknownBecause ?? null };
}
