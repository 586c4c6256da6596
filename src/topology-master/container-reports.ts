import { messageOf } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { type ContainerReport, parseContainerReport } from '../model/container-report.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';

export interface ReportSources {
  readonly stateManager: StateManager;
  readonly topologyName: TopologyName;
  readonly logger: Logger;
}

/**
 * What the executors have written of their processes; one that cannot be read is left out, and
 * will be written again.
 *
 * @throws EngineError what the state manager says.
 */
export async function readContainerReports({
  stateManager,
  topologyName,
  logger,
}: ReportSources): Promise<readonly ContainerReport[]> {
  const folder = paths.containers(topologyName);
  const names = await stateManager.list(folder);
  const nodes = await Promise.all(names.map((name) => stateManager.read(`${folder}/${name}`)));
  return nodes.flatMap((bytes, index) => {
    if (bytes === undefined) return [];
    try {
      return [parseContainerReport(bytes)];
    } catch (error) {
      const container = names[index];
      logger.warn(`the report of container ${container} is left out: ${messageOf(error)}`);
      return [];
    }
  });
}
