import { COMMON_FLAGS, CommandLine, PORT, tokenFromEnvironment } from '../base/command-line.ts';
import { topologyId, topologyName } from '../base/ids.ts';
import type { ProcessContext } from '../base/process-main.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { parseStateAddress } from '../state-manager/state-address.ts';
import { TopologyMaster } from './topology-master.ts';

/*
  The topology master's process. It ends by itself only when it cannot go on: 69 when the state
  manager, the topology or the location node stay away too long, 73 when a port is taken, 77 when
  another incarnation has taken over or the name belongs to another submit.
*/

export const NAME = 'heron-tmanager';

const FLAGS = [
  ...COMMON_FLAGS,
  'server-port',
  'controller-port',
  'stats-port',
  'metrics-manager-port',
] as const;

export async function topologyMasterMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
): Promise<TopologyMaster> {
  const flags = new CommandLine(environment.arguments, FLAGS);
  const token = tokenFromEnvironment(environment.variables);
  const opened = await openTopologyProcess(context, environment, {
    definitionFile: flags.text('definition-file'),
    logDirectory: flags.text('log-directory'),
    state: parseStateAddress(flags.text('state')),
    logName: NAME,
    name: NAME,
  });
  const { settings, definition, stateManager, clock, random, logger, setLogLevel } = opened;
  const master = new TopologyMaster({
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    token,
    host: flags.text('host'),
    serverPort: flags.wholeNumber('server-port', PORT),
    controllerPort: flags.wholeNumber('controller-port', PORT),
    statsPort: flags.wholeNumber('stats-port', PORT),
    metricsManagerPort: flags.wholeNumber('metrics-manager-port', PORT),
    settings,
    definition,
    stateManager,
    network: environment.network,
    listenHttp: (options) => environment.listenHttp(options),
    resourceUse: () => environment.resourceUse(),
    clock,
    machineTime: () => environment.machineTime(),
    random,
    logger,
    setLogLevel,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => master.close());
  context.onShutdown(() => stateManager.close());
  await master.start();
  return master;
}
