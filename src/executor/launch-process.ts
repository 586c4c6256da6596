import { join } from 'node:path';
import { entryFile, nodeArguments } from '../base/entry.ts';
import type { AppendFile } from '../base/rotating-file.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import type { Settings } from '../model/settings.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { DIGEST_VARIABLE } from '../state-manager/state-address.ts';
import type { Command } from '../supervision/process-table.ts';
import { topologyMark } from '../supervision/topology-processes.ts';
import type { LaunchProcess } from './container-processes.ts';
import type { ExecutorArguments } from './executor-arguments.ts';
import { inspectFlags, isInspected } from './inspect-flags.ts';
import type { WantedProcess } from './wanted-processes.ts';

export interface LaunchOptions {
  readonly arguments: ExecutorArguments;
  readonly settings: Settings;
  readonly environment: Pick<
    ProcessEnvironment,
    'processes' | 'executable' | 'variables' | 'openAppendFile'
  >;
  /** The arguments of Node; `nodeCommand` unless a test has other programs. */
  readonly command?: (wanted: WantedProcess) => readonly string[];
}

/** Starts processes as children of this one, with their output in `<log directory>/<name>.out`. */
export function createLauncher(options: LaunchOptions): LaunchProcess {
  const { arguments: args, settings } = options;
  const { processes, executable, variables } = options.environment;
  const command = options.command ?? ((wanted) => nodeCommand(wanted, variables));
  const { workingDirectory, logDirectory, topologyId } = args;
  // The token and the compile cache are in the executor's own environment and handed on with it.
  const environment = { ...variables, ...topologyMark(topologyId) };
  const ofUserCode = { ...environment, [DIGEST_VARIABLE]: undefined };
  return (wanted) => {
    const nodeAndFlags = command(wanted);
    const child: Command = {
      name: wanted.name,
      executable,
      arguments: nodeAndFlags,
      environment: wanted.role === 'instance' ? ofUserCode : environment,
      workingDirectory,
      pidFolder: workingDirectory,
      saysReady: wanted.role === 'instance',
      beats: !isInspected(nodeAndFlags, environment),
    };
    const openOutput = (): AppendFile =>
      options.environment.openAppendFile({
        file: join(logDirectory, `${wanted.name}.out`),
        bytesMax: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
        filesMax: settings.get('heron.logging.maximum.files'),
      });
    return processes.startDependent(child, openOutput);
  };
}

function nodeCommand(wanted: WantedProcess, variables: NodeJS.ProcessEnv): readonly string[] {
  const { entry, flags, heapLimitMb } = wanted;
  const heap = heapLimitMb === undefined ? [] : [`--max-old-space-size=${heapLimitMb}`];
  const inspect = inspectFlags(wanted, variables);
  return [...nodeArguments(), ...heap, ...inspect, entryFile(entry), ...flags];
}
