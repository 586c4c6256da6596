import { join } from 'node:path';
import { RotatingFile } from '../../base/rotating-file.ts';
import { LOCAL_CLUSTER } from '../../config/cluster-settings.ts';
import type { ProcessTable } from '../../supervision/process-table.ts';
import { systemProcessTable } from '../../supervision/system-process-table.ts';
import { type Cluster, openClusterAt } from '../cluster.ts';
import type { CommandContext } from '../command-context.ts';

/*
  A cluster that lives and dies with the command that opened it: its schedulers are children that
  end when this process does, however that happens, and with them all that they started. Its state
  and its files are in the context's data root, which nobody else knows.
*/

/** More than a scheduler ever prints. */
const OUTPUT_BYTES_MAX = 10_000_000;

export function openDependentCluster(
  context: CommandContext,
  variables: NodeJS.ProcessEnv,
): Cluster {
  const processes: ProcessTable = {
    ...systemProcessTable,
    startDetached: (command, file) =>
      systemProcessTable.startDependent(
        command,
        () => new RotatingFile({ file, bytesMax: OUTPUT_BYTES_MAX, filesMax: 1 }),
      ),
  };
  const folder = join(context.dataRoot, 'repository', 'state', LOCAL_CLUSTER);
  return openClusterAt({ kind: 'file', folder }, LOCAL_CLUSTER, context, {
    processes,
    variables: { ...context.variables, ...variables },
  });
}
