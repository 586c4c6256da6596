import { runProcess } from '../base/process-main.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { executorLimitMs } from '../supervision/shutdown-limits.ts';
import { chooseContainerPorts } from './container-ports.ts';
import { Executor } from './executor.ts';
import { parseExecutorArguments } from './executor-arguments.ts';
import { createLauncher } from './launch-process.ts';

runProcess({ name: 'heron-executor' }, async (context) => {
  const args = parseExecutorArguments(process.argv.slice(2));
  const name = `heron-executor-${args.containerId}`;
  const { settings, stateManager, clock, random, logger } = await openTopologyProcess(context, {
    ...args,
    logName: name,
    name,
  });
  // Its own end is that of its children.
  context.setGrace(executorLimitMs(settings.get('heron.shutdown.grace.ms')));
  const executor = new Executor({
    arguments: args,
    settings,
    stateManager,
    launch: createLauncher({ arguments: args, settings, clock }),
    choosePorts: () => chooseContainerPorts(tcpNetwork, args.host),
    clock,
    random,
    logger,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => executor.stop());
  context.onShutdown(() => stateManager.close());
  await executor.start();
});
