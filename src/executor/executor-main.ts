import type { ProcessContext } from '../base/process-main.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import { openTopologyProcess } from '../process-start/topology-process.ts';
import { executorLimitMs } from '../supervision/shutdown-limits.ts';
import { chooseContainerPorts } from './container-ports.ts';
import { Executor } from './executor.ts';
import { executorNameOf, parseExecutorArguments } from './executor-arguments.ts';
import { createLauncher } from './launch-process.ts';

/*
  The executor's process. It ends by itself only when it cannot go on: 64 when its arguments or the
  definition are wrong, 69 when the state manager stays away too long.
*/

export async function executorMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
): Promise<Executor> {
  const args = parseExecutorArguments(environment.arguments);
  const name = executorNameOf(args.containerId);
  const opened = await openTopologyProcess(context, environment, { ...args, logName: name, name });
  const { settings, stateManager, clock, random, logger } = opened;
  // It stops its processes in stages, and each of those may take all of that time.
  context.setGrace(executorLimitMs(settings.get('heron.shutdown.grace.ms')));
  const executor = new Executor({
    arguments: args,
    pid: environment.pid,
    settings,
    stateManager,
    files: environment.files,
    processes: environment.processes,
    launch: createLauncher({ arguments: args, settings, environment }),
    choosePorts: () => chooseContainerPorts(environment.network, args.host),
    listenHttp: (options) => environment.listenHttp(options),
    token: environment.variables['HERON_TOKEN'] || undefined,
    clock,
    random,
    logger,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => executor.stop());
  context.onShutdown(() => stateManager.close());
  await executor.start();
  return executor;
}
