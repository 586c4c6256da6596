import { CommandLine } from '../../base/command-line.ts';
import { topologyId, topologyName } from '../../base/ids.ts';
import { parseStateAddress, stateUrl } from '../../state-manager/state-address.ts';
import type { LaunchRecord } from './launch-record.ts';

export interface SchedulerArguments extends LaunchRecord {
  readonly workingRoot: string;
}

const FLAGS = [
  'topology-name',
  'topology-id',
  'cluster',
  'role',
  'environ',
  'archive',
  'state',
  'data-root',
  'working-root',
  'hosts',
] as const;

/** @throws EngineError INVALID_ARGUMENT for a flag that is missing or unknown. */
export function parseSchedulerArguments(args: readonly string[]): SchedulerArguments {
  const flags = new CommandLine(args, FLAGS);
  return {
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    cluster: flags.text('cluster'),
    role: flags.text('role'),
    environ: flags.text('environ'),
    archive: flags.text('archive'),
    state: parseStateAddress(flags.text('state')),
    dataRoot: flags.text('data-root'),
    workingRoot: flags.text('working-root'),
    hosts: flags.text('hosts').split(','),
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
    `--state=${stateUrl(args.state)}`,
    `--data-root=${args.dataRoot}`,
    `--working-root=${args.workingRoot}`,
    `--hosts=${args.hosts.join(',')}`,
  ];
}
