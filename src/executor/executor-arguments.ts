import { COMMON_FLAGS, CommandLine, type WholeNumberLimits } from '../base/command-line.ts';
import {
  type ContainerId,
  containerId,
  type TopologyId,
  topologyId,
  type TopologyName,
  topologyName,
} from '../base/ids.ts';
import { parseStateAddress, type StateAddress, stateUrl } from '../state-manager/state-address.ts';

/** What every process of a container is told on its command line. */
export interface CommonArguments {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  /** The container's own address, the same for everyone that reaches it. */
  readonly host: string;
  readonly containerId: ContainerId;
  readonly state: StateAddress;
  readonly definitionFile: string;
  readonly logDirectory: string;
}

export interface ExecutorArguments extends CommonArguments {
  readonly workingDirectory: string;
}

const CONTAINER_ID: WholeNumberLimits = { min: 0, max: 999_999_999 };

/** @throws EngineError INVALID_ARGUMENT for a missing or wrong flag. */
export function parseExecutorArguments(args: readonly string[]): ExecutorArguments {
  const flags = new CommandLine(args, [...COMMON_FLAGS, 'working-directory']);
  return {
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    cluster: flags.text('cluster'),
    role: flags.text('role'),
    environ: flags.text('environ'),
    host: flags.text('host'),
    containerId: containerId(flags.wholeNumber('container-id', CONTAINER_ID)),
    state: parseStateAddress(flags.text('state')),
    definitionFile: flags.text('definition-file'),
    logDirectory: flags.text('log-directory'),
    workingDirectory: flags.text('working-directory'),
  };
}

/** What it is called in logs and by its shell. */
export function executorNameOf(container: ContainerId): string {
  return `heron-executor-${container}`;
}

/** The flags that an executor hands on to its children as they are. */
export function commonFlags(common: CommonArguments): readonly string[] {
  return [
    `--topology-name=${common.topologyName}`,
    `--topology-id=${common.topologyId}`,
    `--cluster=${common.cluster}`,
    `--role=${common.role}`,
    `--environ=${common.environ}`,
    `--host=${common.host}`,
    `--container-id=${common.containerId}`,
    `--state=${stateUrl(common.state)}`,
    `--definition-file=${common.definitionFile}`,
    `--log-directory=${common.logDirectory}`,
  ];
}
