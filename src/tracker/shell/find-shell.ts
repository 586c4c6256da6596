import { type ContainerId, containerId, containerOfStreamManager } from '../../base/ids.ts';
import { findContainer } from '../../topology-client/container-client.ts';
import type { SnapshotSource } from '../state/snapshot.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { refusal } from '../tracker-error.ts';
import type { ContainerShell } from './container-shell.ts';
import { HeronShell } from './heron-shell.ts';

/** @throws HTTPException 404 when there is no such container, 503 when nobody answers for it. */
export function shellOfContainer(
  view: TopologyView,
  container: ContainerId,
  snapshots: SnapshotSource,
): ContainerShell {
  const report = view.reports.find(({ containerId: id }) => id === container);
  if (report !== undefined) {
    const token = snapshots.tokenOf(view);
    if (token === undefined) throw refusal(503, `the token of ${view.name} cannot be read here`);
    const client = findContainer(report, token);
    if (client !== undefined) return client;
    throw refusal(503, `container ${container} of ${view.name} has no shell now`);
  }
  const manager = view.physicalPlan?.streamManagers.find(
    ({ id }) => containerOfStreamManager(id) === container,
  );
  if (manager === undefined) throw refusal(404, `${view.name} has no container ${container}`);
  const { host, shellPort } = manager;
  // One whose executor has died is known by its topology: Heron's has no token.
  if (shellPort > 0 && snapshots.tokenOf(view) === undefined)
    return new HeronShell(host, shellPort);
  throw refusal(503, `container ${container} of ${view.name} has no shell now`);
}

/** The container of a process: of an instance by the plan, of any other by the reports. */
export function containerOf(view: TopologyView, process: string): ContainerId {
  const instance = view.physicalPlan?.instances.find(({ id }) => id === process);
  const planned = instance && containerOfStreamManager(instance.streamManager);
  if (planned !== undefined) return planned;
  const report = view.reports.find(({ processes }) =>
    processes.some(({ name }) => name === process),
  );
  if (report !== undefined) return report.containerId;
  throw refusal(404, `${view.name} has no instance or process '${process}'`);
}

export function shellOfProcess(
  view: TopologyView,
  process: string,
  snapshots: SnapshotSource,
): ContainerShell {
  return shellOfContainer(view, containerId(containerOf(view, process)), snapshots);
}
