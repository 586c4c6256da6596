import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openLogger } from '../../src/base/log-file.ts';
import { runProcess } from '../../src/base/process-main.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { chooseContainerPorts } from '../../src/executor/container-ports.ts';
import { Executor } from '../../src/executor/executor.ts';
import { parseExecutorArguments } from '../../src/executor/executor-arguments.ts';
import { createLauncher } from '../../src/executor/launch-process.ts';
import { Settings } from '../../src/model/settings.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { createStateManager } from '../../src/state-manager/create.ts';

/* A real executor whose processes are `stub-child.ts`. Settings come from HERON_TEST_SETTINGS. */

const STUB_CHILD = join(import.meta.dirname, 'stub-child.ts');

runProcess({ name: 'stub-executor', graceMs: 60_000 }, async (context) => {
  const args = parseExecutorArguments(process.argv.slice(2));
  const config = JSON.parse(process.env['HERON_TEST_SETTINGS'] ?? '{}') as Record<string, string>;
  const settings = new Settings(new Map(Object.entries(config)));
  const clock = systemClock;
  const random = createSystemRandom();
  const logger = openLogger({
    file: join(args.logDirectory, 'executor.log'),
    level: 'info',
    name: 'executor',
    clock,
    maxBytes: 1_000_000,
    filesMax: 2,
  });
  context.logTo(logger);
  const stateManager = createStateManager({
    kind: 'file',
    root: args.stateRoot,
    clock,
    random,
    logger,
  });
  const command = ({ flags }: { readonly flags: readonly string[] }): readonly string[] => [
    STUB_CHILD,
    ...flags,
  ];
  const executor = new Executor({
    arguments: args,
    settings,
    stateManager,
    launch: createLauncher({ arguments: args, settings, clock, command }),
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
