import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../../src/base/process-main.ts';
import { chooseContainerPorts } from '../../src/executor/container-ports.ts';
import { Executor } from '../../src/executor/executor.ts';
import { parseExecutorArguments } from '../../src/executor/executor-arguments.ts';
import { createLauncher } from '../../src/executor/launch-process.ts';
import { Settings } from '../../src/model/settings.ts';
import { openSurroundings } from '../../src/process-start/surroundings.ts';
import { systemEnvironment } from '../../src/process-start/system-environment.ts';
import { systemProcessTable } from '../../src/supervision/system-process-table.ts';

/*
  A real executor whose processes are `stub-child.ts`. Settings come from HERON_TEST_SETTINGS. A
  file `never-ready` in its working directory keeps it from its work for one life.
*/

const STUB_CHILD = join(import.meta.dirname, 'stub-child.ts');

runProcess({ name: 'stub-executor', graceMs: 60_000 }, async (context) => {
  const environment = systemEnvironment(systemProcessTable);
  const args = parseExecutorArguments(environment.arguments);
  const config = JSON.parse(environment.variables['HERON_TEST_SETTINGS'] ?? '{}') as Record<
    string,
    string
  >;
  const settings = new Settings(new Map(Object.entries(config)));
  const { clock, random, logger, stateManager } = openSurroundings(context, environment, {
    logFile: join(args.logDirectory, 'executor.log'),
    name: 'executor',
    logBytesMax: 1_000_000,
    logFilesMax: 2,
    state: args.state,
  });
  const command = ({ flags }: { readonly flags: readonly string[] }): readonly string[] => [
    STUB_CHILD,
    ...flags,
  ];
  const executor = new Executor({
    arguments: args,
    pid: environment.pid,
    settings,
    stateManager,
    files: environment.files,
    processes: environment.processes,
    launch: createLauncher({ arguments: args, settings, environment, command }),
    choosePorts: () => chooseContainerPorts(environment.network, args.host),
    listenHttp: (options) => environment.listenHttp(options),
    token: environment.variables['HERON_TOKEN'],
    clock,
    random,
    logger,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => executor.stop());
  context.onShutdown(() => stateManager.close());
  const obstacle = join(args.workingDirectory, 'never-ready');
  if (existsSync(obstacle)) {
    rmSync(obstacle);
    clock.every(1_000, () => {});
    await new Promise(() => {});
  }
  await executor.start();
});
