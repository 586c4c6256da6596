import { runProcess } from '../base/process-main.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { executorLimitMs } from '../supervision/shutdown-limits.ts';
import { chooseContainerPorts } from './container-ports.ts';
import { Executor } from './executor.ts';
import { parseExecutorArguments } from './executor-arguments.ts';
import { createLauncher } from './launch-process.ts';

/*
  The executor's process. It ends by itself only when it cannot go on: 64 when its arguments or the
  definition are wrong, 69 when the state manager stays away too long.
*/

runProcess({ name: 'heron-executor' }, async (context) => {
  const args = parseExecutorArguments(process.argv.slice(2));
  const name = `heron-executor-${args.containerId}`;
  const { settings, stateManager, clock, random, logger } = await openTopologyProcess(context, {
    ...args,
    logName: name,
    name,
  });
  // It stops its processes in stages, and each of those may take all of that time.
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
