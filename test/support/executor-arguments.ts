import { containerId, topologyId, topologyName } from '../../src/base/ids.ts';
import type { ExecutorArguments } from '../../src/executor/executor-arguments.ts';

/** Arguments of container 1's executor. */
export function executorArguments(changes: Partial<ExecutorArguments> = {}): ExecutorArguments {
  return {
    topologyName: topologyName('words'),
    topologyId: topologyId('words-1234'),
    cluster: 'local',
    role: 'ada',
    environ: 'dev',
    host: '127.0.0.2',
    containerId: containerId(1),
    state: { kind: 'file', folder: '/state' },
    definitionFile: '/c/words.defn',
    logDirectory: '/c/log-files',
    workingDirectory: '/c',
    ...changes,
  };
}
