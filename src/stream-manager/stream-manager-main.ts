import { COMMON_FLAGS, CommandLine, PORT, tokenFromEnvironment } from '../base/command-line.ts';
import { instanceId, streamManagerId, topologyId, topologyName } from '../base/ids.ts';
import type { ProcessContext } from '../base/process-main.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics } from '../metrics/process-metrics.ts';
import { createProcessPublisher } from '../metrics-publisher/process-publisher.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { parseStateAddress } from '../state-manager/state-address.ts';
import { StoredTopology } from '../wire/messages.ts';
import type { Membership } from './membership.ts';
import { StreamManager } from './stream-manager.ts';

/*
  The stream manager's process. It ends by itself only when it cannot go on: 69 when the topology
  master is not found in time, 73 when a port is taken, 77 when the name belongs to another submit.
*/

export const NAME = 'heron-stmgr';
const FLAGS = [
  ...COMMON_FLAGS,
  'id',
  'instance-ids',
  'data-port',
  'local-data-port',
  'metrics-manager-port',
  'shell-port',
] as const;

export async function streamManagerMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
): Promise<StreamManager> {
  const flags = new CommandLine(environment.arguments, FLAGS);
  const token = tokenFromEnvironment(environment.variables);
  const id = streamManagerId(flags.text('id'));
  const opened = await openTopologyProcess(context, environment, {
    definitionFile: flags.text('definition-file'),
    logDirectory: flags.text('log-directory'),
    state: parseStateAddress(flags.text('state')),
    logName: `heron-${id}`,
    name: id,
  });
  const { definition, settings, stateManager, clock, random, logger, setLogLevel } = opened;
  const { network, workingDirectory, pid } = environment;
  const metrics = new MetricsRegistry();
  registerProcessMetrics(metrics, clock, () => environment.resourceUse());
  const common = { settings, network, clock, random, logger, host: flags.text('host') };
  const streamManager = new StreamManager({
    ...common,
    setLogLevel,
    id,
    own: membershipOf(flags, token),
    instanceIds: flags.text('instance-ids').split(',').map(instanceId),
    definition: StoredTopology.decode(definition),
    dataPort: flags.wholeNumber('data-port', PORT),
    localDataPort: flags.wholeNumber('local-data-port', PORT),
    shellPort: flags.wholeNumber('shell-port', PORT),
    workingDirectory,
    pid,
    stateManager,
    metrics,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => streamManager.close());
  context.onShutdown(() => stateManager.close());
  await streamManager.start();
  const publisher = createProcessPublisher({
    ...common,
    token,
    metricsManagerPort: flags.wholeNumber('metrics-manager-port', PORT),
    identity: {
      port: streamManager.ports.localData,
      componentName: '__stmgr__',
      instanceId: id,
      instanceIndex: -1,
    },
    collect: () => metrics.collect(),
    collectHistograms: () => metrics.collectHistograms(),
  });
  context.onShutdown(() => publisher.close());
  publisher.start();
  return streamManager;
}

function membershipOf(flags: CommandLine<(typeof FLAGS)[number]>, token: string): Membership {
  return {
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    token,
    engineVersion: ENGINE_VERSION,
  };
}
