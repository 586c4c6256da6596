import { parseArgs } from 'node:util';
import { userError } from '../base/errors.ts';
import {
  type ContainerId,
  containerId,
  type TopologyId,
  topologyId,
  type TopologyName,
  topologyName,
} from '../base/ids.ts';

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
  readonly stateRoot: string;
  readonly definitionFile: string;
  readonly logDirectory: string;
}

export interface ExecutorArguments extends CommonArguments {
  readonly workingDirectory: string;
}

const FLAG = { type: 'string' } as const;

/** @throws Error of `parseArgs`, or EngineError INVALID_ARGUMENT for a missing or wrong flag. */
export function parseExecutorArguments(args: readonly string[]): ExecutorArguments {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      'topology-name': FLAG,
      'topology-id': FLAG,
      cluster: FLAG,
      role: FLAG,
      environ: FLAG,
      host: FLAG,
      'container-id': FLAG,
      'state-root': FLAG,
      'definition-file': FLAG,
      'log-directory': FLAG,
      'working-directory': FLAG,
    },
  });
  const required = (flag: keyof typeof values): string => {
    const value = values[flag];
    if (value === undefined) throw userError('INVALID_ARGUMENT', `--${flag} is missing`);
    return value;
  };
  return {
    topologyName: topologyName(required('topology-name')),
    topologyId: topologyId(required('topology-id')),
    cluster: required('cluster'),
    role: required('role'),
    environ: required('environ'),
    host: required('host'),
    containerId: parseContainerId(required('container-id')),
    stateRoot: required('state-root'),
    definitionFile: required('definition-file'),
    logDirectory: required('log-directory'),
    workingDirectory: required('working-directory'),
  };
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
    `--state-root=${common.stateRoot}`,
    `--definition-file=${common.definitionFile}`,
    `--log-directory=${common.logDirectory}`,
  ];
}

function parseContainerId(text: string): ContainerId {
  if (!/^\d{1,9}$/.test(text)) {
    throw userError('INVALID_ARGUMENT', `--container-id: expected a whole number, got '${text}'`);
  }
  return containerId(Number(text));
}
