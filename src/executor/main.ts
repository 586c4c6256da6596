import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { openLogger } from '../base/log-file.ts';
import { runProcess } from '../base/process-main.ts';
import { createSystemRandom } from '../base/random.ts';
import { Settings } from '../model/settings.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { createStateManager } from '../state-manager/create.ts';
import { executorLimitMs } from '../supervision/shutdown-limits.ts';
import { decodeTopology } from '../wire/topology.ts';
import { chooseContainerPorts } from './container-ports.ts';
import { Executor } from './executor.ts';
import { parseExecutorArguments } from './executor-arguments.ts';
import { createLauncher } from './launch-process.ts';

const MEBIBYTE = 1024 * 1024;

runProcess({ name: 'heron-executor' }, async (context) => {
  const args = parseExecutorArguments(process.argv.slice(2));
  const settings = new Settings(decodeTopology(await readFile(args.definitionFile)).config);
  context.setGrace(executorLimitMs(settings.get('heron.shutdown.grace.ms')));
  const clock = systemClock;
  const random = createSystemRandom();
  const name = `heron-executor-${args.containerId}`;
  const logger = openLogger({
    file: join(args.logDirectory, `${name}.log`),
    level: 'info',
    name,
    clock,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * MEBIBYTE,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
  context.logTo(logger);
  const stateManager = createStateManager({
    kind: 'file',
    root: args.stateRoot,
    clock,
    random,
    logger,
  });
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
