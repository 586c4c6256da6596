import { entryFile, nodeArguments } from '../../base/entry.ts';
import { assertDefined } from '../../base/assert.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import { stateUrl } from '../../state-manager/state-address.ts';
import type { Command } from '../../supervision/process-table.ts';
import { topologyMark } from '../../supervision/topology-processes.ts';
import type { SchedulerArguments } from './scheduler-arguments.ts';
import {
  compileCacheFolder,
  containerFolder,
  definitionFile,
  executorName,
  logFolder,
  workingFolderAt,
} from './working-folder.ts';

/** How a container's executor is started. */
export function executorCommand(
  args: SchedulerArguments,
  container: ContainerId,
  token: string,
  environment: Pick<ProcessEnvironment, 'executable' | 'variables'>,
): Command {
  const folder = containerFolder(workingFolderAt(args.workingRoot), container);
  return {
    name: executorName(container),
    executable: environment.executable,
    arguments: [
      ...nodeArguments(),
      entryFile('executor/main'),
      `--topology-name=${args.topologyName}`,
      `--topology-id=${args.topologyId}`,
      `--cluster=${args.cluster}`,
      `--role=${args.role}`,
      `--environ=${args.environ}`,
      `--host=${hostOf(args.hosts, container)}`,
      `--container-id=${container}`,
      `--state=${stateUrl(args.state)}`,
      `--definition-file=${definitionFile(folder, args.topologyName)}`,
      `--log-directory=${logFolder(folder)}`,
      `--working-directory=${folder}`,
    ],
    environment: {
      // A cache that is set outside wins: it may be warm already.
      NODE_COMPILE_CACHE: compileCacheFolder(args.dataRoot),
      ...environment.variables,
      ...topologyMark(args.topologyId),
      HERON_TOKEN: token,
    },
    workingDirectory: folder,
    pidFolder: args.workingRoot,
  };
}

/** Always the same for a container, whichever scheduler starts it. */
export function hostOf(hosts: readonly string[], container: ContainerId): string {
  return assertDefined(hosts[container % hosts.length], 'there is a host at least');
}
