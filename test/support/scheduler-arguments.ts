import { topologyId, topologyName } from '../../src/base/ids.ts';
import type { SchedulerArguments } from '../../src/scheduler/local/scheduler-arguments.ts';

/** Arguments of a local scheduler process with two hosts. */
export function schedulerArguments(): SchedulerArguments {
  return {
    topologyName: topologyName('words'),
    topologyId: topologyId('words-1234'),
    cluster: 'local',
    role: 'ada',
    environ: 'dev',
    archive: '/uploads/words.tar.gz',
    state: { kind: 'file', folder: '/state' },
    dataRoot: '/data',
    workingRoot: '/data/topologies/local/ada/words',
    hosts: ['127.0.0.1', '127.0.0.2'],
  };
}
