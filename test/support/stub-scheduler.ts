import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeArguments } from '../../src/base/entry.ts';
import { environmentError } from '../../src/base/errors.ts';
import { runProcess } from '../../src/base/process-main.ts';
import { openSurroundings } from '../../src/process-start/surroundings.ts';
import { systemEnvironment } from '../../src/process-start/system-environment.ts';
import { executorCommand } from '../../src/scheduler/local/executor-command.ts';
import { parseSchedulerArguments } from '../../src/scheduler/local/scheduler-arguments.ts';
import { TopologySupervisor } from '../../src/scheduler/local/topology-supervisor.ts';
import {
  containerFolder,
  logFolder,
  workingFolderAt,
} from '../../src/scheduler/local/working-folder.ts';
import { systemProcessTable } from '../../src/supervision/system-process-table.ts';

/*
  A real scheduler process whose executors are `stub-executor.ts` and whose archives are single
  files that it does not unpack; one that holds `damaged` cannot be.
*/

const STUB_EXECUTOR = join(import.meta.dirname, 'stub-executor.ts');

const environment = systemEnvironment(systemProcessTable);
const cache = environment.variables['NODE_COMPILE_CACHE'];
const sharedCache = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };

runProcess({ name: 'stub-scheduler', graceMs: 60_000 }, async (context) => {
  const args = parseSchedulerArguments(environment.arguments);
  const folder = workingFolderAt(args.workingRoot);
  const { clock, random, logger, stateManager } = openSurroundings(context, environment, {
    logFile: folder.schedulerLog,
    name: 'scheduler',
    logBytesMax: 1_000_000,
    logFilesMax: 2,
    state: args.state,
  });
  const supervisor = new TopologySupervisor({
    arguments: args,
    stateManager,
    archives: {
      remove: async (location) => rmSync(location, { force: true }),
    },
    setUp: async (container) => {
      if (readFileSync(args.archive, 'utf8') === 'damaged') {
        throw environmentError('ARCHIVE_INVALID', 'the archive is damaged');
      }
      const logs = logFolder(containerFolder(folder, container));
      if (!existsSync(logs)) mkdirSync(logs, { recursive: true });
    },
    commandOf: (container, token) => {
      const command = executorCommand(args, container, token, environment);
      const flags = command.arguments.slice(nodeArguments().length + 1);
      const variables = { ...command.environment, ...sharedCache };
      return { ...command, environment: variables, arguments: [STUB_EXECUTOR, ...flags] };
    },
    files: environment.files,
    processes: environment.processes,
    clock,
    random,
    logger,
    onEnding: () => context.stop(),
  });
  context.onShutdown(() => supervisor.stop());
  context.onShutdown(() => stateManager.close());
  await supervisor.readSettings();
  await supervisor.start();
});
