import { COMMON_FLAGS, CommandLine, PORT, tokenFromEnvironment } from '../base/command-line.ts';
import { topologyId } from '../base/ids.ts';
import { runProcess } from '../base/process-main.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { MetricsManager } from './metrics-manager.ts';

/* The metrics manager's process. It needs neither master nor state manager to be up. */

runProcess({ name: 'heron-metricsmgr' }, async (context) => {
  const flags = new CommandLine(process.argv.slice(2), [...COMMON_FLAGS, 'id', 'port']);
  const token = tokenFromEnvironment();
  const id = flags.text('id');
  const logDirectory = flags.text('log-directory');
  const { topology, settings, stateManager, clock, random, logger } = await openTopologyProcess(
    context,
    {
      definitionFile: flags.text('definition-file'),
      logDirectory,
      stateRoot: flags.text('state-root'),
      logName: `heron-${id}`,
      name: id,
    },
  );
  const manager = new MetricsManager({
    id,
    topologyId: topologyId(flags.text('topology-id')),
    topology,
    token,
    host: flags.text('host'),
    port: flags.wholeNumber('port', PORT),
    logDirectory,
    settings,
    stateManager,
    network: tcpNetwork,
    clock,
    random,
    logger,
  });
  context.onShutdown(() => manager.close());
  context.onShutdown(() => stateManager.close());
  await manager.start();
});
