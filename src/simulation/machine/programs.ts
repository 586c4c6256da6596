import { entryFile } from '../../base/entry.ts';
import type { ProcessContext, ProcessOptions } from '../../base/process-main.ts';
import { executorMain } from '../../executor/executor-main.ts';
import { instanceMain, instanceOptions } from '../../instance/instance-main.ts';
import { metricsCacheMain } from '../../metrics-cache/metrics-cache-main.ts';
import { metricsManagerMain } from '../../metrics-manager/metrics-manager-main.ts';
import { schedulerMain } from '../../scheduler/local/scheduler-main.ts';
import { streamManagerMain } from '../../stream-manager/stream-manager-main.ts';
import { topologyMasterMain } from '../../topology-master/topology-master-main.ts';
import type { MainEnvironment } from './interposer.ts';
import { simulatedContainerSetup } from './simulated-container.ts';

/*
  What the entry files of the engine run, as main functions: the simulated machine looks at a
  command line as Node does and calls the function in place of starting a process.
*/

export interface Program {
  readonly options: ProcessOptions;
  /** Resolves with the object that the process consists of. */
  readonly main: (context: ProcessContext, environment: MainEnvironment) => Promise<object>;
}

const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    'scheduler/local/main': {
      options: { name: 'heron-scheduler' },
      main: (context, environment) =>
        schedulerMain(context, environment, {
          setUpContainer: simulatedContainerSetup(environment.files),
        }),
    },
    'executor/main': { options: { name: 'heron-executor' }, main: executorMain },
    'topology-master/main': { options: { name: 'heron-tmanager' }, main: topologyMasterMain },
    'stream-manager/main': { options: { name: 'heron-stmgr' }, main: streamManagerMain },
    'metrics-cache/main': { options: { name: 'heron-metricscache' }, main: metricsCacheMain },
    'metrics-manager/main': { options: { name: 'heron-metricsmgr' }, main: metricsManagerMain },
    'instance/main': { options: instanceOptions, main: instanceMain },
  } satisfies Record<string, Program>).map(([name, program]) => [entryFile(name), program]),
);

export interface CommandLine {
  readonly program: Program;
  /** What follows the entry file. */
  readonly arguments: readonly string[];
}

/** Undefined when no argument is an entry file of the engine. */
export function parseCommandLine(args: readonly string[]): CommandLine | undefined {
  const index = args.findIndex((argument) => PROGRAMS.has(argument));
  const program = PROGRAMS.get(args[index] ?? '');
  return program === undefined ? undefined : { program, arguments: args.slice(index + 1) };
}
