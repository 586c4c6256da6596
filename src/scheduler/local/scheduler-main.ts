import type { ProcessContext } from '../../base/process-main.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import { openSurroundings } from '../../process-start/surroundings.ts';
import { schedulerLimitMs } from '../../supervision/shutdown-limits.ts';
import { createUploader } from '../../uploader/create.ts';
import type { SetUpContainer } from './container-setup.ts';
import { executorCommand } from './executor-command.ts';
import { parseSchedulerArguments } from './scheduler-arguments.ts';
import { TopologySupervisor } from './topology-supervisor.ts';
import { containerFolder, uploadsFolder, workingFolderAt } from './working-folder.ts';

/* The local scheduler's process, one for each topology; the command that submits it starts it. */

/** A scheduler has little to say: a line for every death of an executor. */
const LOG_BYTES_MAX = 10 * 1024 * 1024;
const LOG_FILES_MAX = 2;

export async function schedulerMain(
  context: ProcessContext,
  environment: ProcessEnvironment,
  { setUpContainer }: { readonly setUpContainer: SetUpContainer },
): Promise<TopologySupervisor> {
  const args = parseSchedulerArguments(environment.arguments);
  const folder = workingFolderAt(args.workingRoot);
  const { clock, random, logger, stateManager } = openSurroundings(context, environment, {
    logFile: folder.schedulerLog,
    name: 'scheduler',
    logBytesMax: LOG_BYTES_MAX,
    logFilesMax: LOG_FILES_MAX,
    state: args.state,
  });
  const { topologyName, archive } = args;
  const { files, processes } = environment;
  const archives = createUploader({
    kind: 'file',
    folder: uploadsFolder(args.dataRoot, args),
    random,
    files,
  });
  const supervisor = new TopologySupervisor({
    arguments: args,
    stateManager,
    archives,
    setUp: (container) =>
      setUpContainer({
        folder: containerFolder(folder, container),
        topologyName,
        archive,
        archives,
      }),
    commandOf: (container, token) => executorCommand(args, container, token, environment),
    files,
    processes,
    clock,
    random,
    logger,
    onEnding: () => context.stop(),
  });
  context.onShutdown(() => supervisor.stop());
  context.onShutdown(() => stateManager.close());
  const settings = await supervisor.readSettings();
  context.setGrace(schedulerLimitMs(settings.get('heron.shutdown.grace.ms')));
  await supervisor.start();
  return supervisor;
}
