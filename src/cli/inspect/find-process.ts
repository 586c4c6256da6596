import { environmentError, userError } from '../../base/errors.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import { paths } from '../../state-manager/paths.ts';
import { type ContainerClient, findContainer } from '../../topology-client/container-client.ts';
import type { FoundTopology, TopologyArguments } from '../find-topology.ts';
import { runningId } from '../running-id.ts';

/** A process of a topology, as `status` names them, or a container's executor. */
export interface ProcessArguments extends TopologyArguments {
  readonly process: string;
}

export interface FoundProcess {
  readonly name: string;
  readonly report: ContainerReport;
  /** Of the container's shell. */
  readonly client: ContainerClient;
}

/**
 * @throws EngineError TOPOLOGY_NOT_FOUND or TOPOLOGY_NOT_READY when nothing runs, INVALID_ARGUMENT
 *   with what there is, INSPECTION_FAILED when the container has no shell
 */
export async function findProcess(found: FoundTopology, name: string): Promise<FoundProcess> {
  runningId(found);
  const { cluster, status } = found;
  const report = reportWith(name, found);
  const secret = await cluster.stateManager.read(paths.token(status.record.name));
  const client = findContainer(report, Buffer.from(secret ?? []).toString());
  if (client !== undefined) return { name, report, client };
  const text = `the executor of container ${report.containerId} listens to no questions`;
  throw environmentError('INSPECTION_FAILED', `${text}; its log says why`, { retryable: true });
}

function reportWith(name: string, { status }: FoundTopology): ContainerReport {
  const { reports, record } = status;
  const found = reports.find((report) => namesIn(report).includes(name));
  if (found !== undefined) return found;
  const hint = didYouMean(name, reports.flatMap(namesIn));
  throw userError(
    'INVALID_ARGUMENT',
    `${record.name} has no process '${quotable(name)}'${hint}; heron status shows them`,
  );
}

/** The executor's own name is that of its log. */
function namesIn({ containerId, processes }: ContainerReport): readonly string[] {
  return [...processes.map((process) => process.name), `heron-executor-${containerId}`];
}
