import type { ContainerId } from '../../base/ids.ts';
import type { TopologyView } from '../state/topology-view.ts';

/*
  Where people look at the files of a container. Heron's shell serves pages to anyone; ours demands
  the topology's token, which browsers do not have, so links lead through the Tracker.
*/

export interface ContainerLinks {
  /** The container's own folder. */
  readonly folder: string;
  readonly logFiles: string;
  /** The log of one of its instances. */
  logOf(instance: string): string;
}

export interface ContainerPlace {
  readonly container: ContainerId | undefined;
  readonly host: string;
  /** Of the shell; 0 when there is none. */
  readonly shellPort: number;
}

const LOG_FILES = 'log-files';

/** Undefined when nobody serves them. */
export function containerLinksOf(
  view: TopologyView,
  { container, host, shellPort }: ContainerPlace,
): ContainerLinks | undefined {
  const report = view.reports.find(({ containerId }) => containerId === container);
  if (report?.shellPort !== undefined && container !== undefined) {
    return throughTracker(view, container);
  }
  // Whoever reports and has no shell has none at the port of the plan either.
  if (report !== undefined || shellPort <= 0) return undefined;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${shellPort}`;
  return {
    folder: `${base}/browse/`,
    logFiles: `${base}/browse/${LOG_FILES}`,
    logOf: (instance) => `${base}/file/${LOG_FILES}/${encodeURIComponent(instance)}.log.0`,
  };
}

function throughTracker(view: TopologyView, container: ContainerId): ContainerLinks {
  const { cluster, environ, name: topology } = view;
  const place = { cluster, environ, topology, container: String(container) };
  // Once for all instances of the container.
  const query = new URLSearchParams(place).toString();
  const link = (kind: 'filestats' | 'filedata', path: string): string =>
    `/topologies/container/${kind}?${query}&path=${encodeURIComponent(path)}`;
  return {
    folder: link('filestats', '.'),
    logFiles: link('filestats', LOG_FILES),
    logOf: (instance) => link('filedata', `${LOG_FILES}/${instance}.log`),
  };
}
