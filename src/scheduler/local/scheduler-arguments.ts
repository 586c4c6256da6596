import { parseArgs } from 'node:util';
import { userError } from '../../base/errors.ts';
import { topologyId, topologyName } from '../../base/ids.ts';
import type { LaunchRecord } from './launch-record.ts';

export interface SchedulerArguments extends LaunchRecord {
  readonly workingRoot: string;
}

const FLAG = { type: 'string' } as const;

/** @throws Error of `parseArgs`, or EngineError INVALID_ARGUMENT for a flag that is missing. */
export function parseSchedulerArguments(args: readonly string[]): SchedulerArguments {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      'topology-name': FLAG,
      'topology-id': FLAG,
      cluster: FLAG,
      role: FLAG,
      environ: FLAG,
      archive: FLAG,
      'state-root': FLAG,
      'data-root': FLAG,
      'working-root': FLAG,
      hosts: FLAG,
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
    archive: required('archive'),
    stateRoot: required('state-root'),
    dataRoot: required('data-root'),
    workingRoot: required('working-root'),
    hosts: required('hosts').split(','),
  };
}

/** The other direction. */
export function schedulerFlags(args: SchedulerArguments): readonly string[] {
  return [
    `--topology-name=${args.topologyName}`,
    `--topology-id=${args.topologyId}`,
    `--cluster=${args.cluster}`,
    `--role=${args.role}`,
    `--environ=${args.environ}`,
    `--archive=${args.archive}`,
    `--state-root=${args.stateRoot}`,
    `--data-root=${args.dataRoot}`,
    `--working-root=${args.workingRoot}`,
    `--hosts=${args.hosts.join(',')}`,
  ];
}
