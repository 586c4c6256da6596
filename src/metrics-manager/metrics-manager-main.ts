import { COMMON_FLAGS, CommandLine, PORT, tokenFromEnvironment } from '../base/command-line.ts';
import { topologyId } from '../base/ids.ts';
import type { ProcessContext } from '../base/process-main.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { parseStateAddress } from '../state-manager/state-address.ts';
import { MetricsManager } from './metrics-manager.ts';

/* The metrics manager's process. It needs neither master nor state manager to be up. */

export const NAME = 'heron-metricsmgr';

const CONTAINER_ID = { min: 0, max: 65_535 };

export async function metricsManagerMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
): Promise<MetricsManager> {
  const flags = new CommandLine(environment.arguments, [
    ...COMMON_FLAGS,
    'id',
    'port',
    'http-port',
  ]);
  const token = tokenFromEnvironment(environment.variables);
  const id = flags.text('id');
  const logDirectory = flags.text('log-directory');
  const opened = await openTopologyProcess(context, environment, {
    definitionFile: flags.text('definition-file'),
    logDirectory,
    state: parseStateAddress(flags.text('state')),
    logName: `heron-${id}`,
    name: id,
  });
  const { topology, settings, stateManager, clock, random, logger } = opened;
  const manager = new MetricsManager({
    id,
    topologyId: topologyId(flags.text('topology-id')),
    topology,
    token,
    cluster: flags.text('cluster'),
    role: flags.text('role'),
    environ: flags.text('environ'),
    container: flags.wholeNumber('container-id', CONTAINER_ID),
    host: flags.text('host'),
    port: flags.wholeNumber('port', PORT),
    httpPort: flags.wholeNumber('http-port', PORT),
    logDirectory,
    settings,
    stateManager,
    files: environment.files,
    network: environment.network,
    listenHttp: (options) => environment.listenHttp(options),
    openAppendFile: (options) => environment.openAppendFile(options),
    resourceUse: () => environment.resourceUse(),
    clock,
    random,
    logger,
  });
  context.onShutdown(() => manager.close());
  context.onShutdown(() => stateManager.close());
  await manager.start();
  return manager;
}
