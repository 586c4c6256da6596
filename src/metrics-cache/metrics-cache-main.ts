import { COMMON_FLAGS, CommandLine, PORT, tokenFromEnvironment } from '../base/command-line.ts';
import { topologyId } from '../base/ids.ts';
import type { ProcessContext } from '../base/process-main.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { parseStateAddress } from '../state-manager/state-address.ts';
import { MetricsCache } from './metrics-cache.ts';

/*
  The metrics cache's process. It needs neither master nor state manager to be up; it ends by itself
  only with 73, when a port is taken.
*/

export const NAME = 'heron-metricscache';

const FLAGS = [...COMMON_FLAGS, 'id', 'server-port', 'stats-port', 'metrics-manager-port'] as const;

export async function metricsCacheMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
): Promise<MetricsCache> {
  const flags = new CommandLine(environment.arguments, FLAGS);
  const token = tokenFromEnvironment(environment.variables);
  const id = flags.text('id');
  const opened = await openTopologyProcess(context, environment, {
    definitionFile: flags.text('definition-file'),
    logDirectory: flags.text('log-directory'),
    state: parseStateAddress(flags.text('state')),
    logName: id,
    name: id,
  });
  const { topology, settings, stateManager, clock, random, logger } = opened;
  const cache = new MetricsCache({
    topologyId: topologyId(flags.text('topology-id')),
    topology,
    token,
    host: flags.text('host'),
    serverPort: flags.wholeNumber('server-port', PORT),
    statsPort: flags.wholeNumber('stats-port', PORT),
    metricsManagerPort: flags.wholeNumber('metrics-manager-port', PORT),
    settings,
    stateManager,
    network: environment.network,
    listenHttp: (options) => environment.listenHttp(options),
    resourceUse: () => environment.resourceUse(),
    clock,
    random,
    logger,
  });
  context.onShutdown(() => cache.close());
  context.onShutdown(() => stateManager.close());
  await cache.start();
  return cache;
}
