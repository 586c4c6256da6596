import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { topologyId } from '../../../src/base/ids.ts';
import { commonFlags, type ExecutorArguments } from '../../../src/executor/executor-arguments.ts';
import {
  type ContainerReport,
  parseContainerReport,
  type ProcessReport,
} from '../../../src/model/container-report.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { killProcesses } from '../../../src/supervision/end-processes.ts';
import type { ProcessHandle } from '../../../src/supervision/process-handle.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import {
  findTopologyProcesses,
  topologyMark,
} from '../../../src/supervision/topology-processes.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { executorArguments } from '../../support/executor-arguments.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const STUB_EXECUTOR = join(import.meta.dirname, '../../support/stub-executor.ts');

/** What a stub child says when it is up. */
export interface Started {
  readonly name: string;
  readonly pid: number;
  readonly ports: readonly number[];
}

/** The surroundings of one executor with stub children: folder, state tree, eyes and hands. */
export interface Container {
  readonly arguments: ExecutorArguments;
  readonly stateManager: StateManager;
  readonly startExecutor: (settings?: Readonly<Record<string, string>>) => ProcessHandle;
  readonly writePlan: (plan: PackingPlan) => Promise<void>;
  readonly behave: (name: string, behaviour: string) => void;
  readonly report: () => Promise<ContainerReport | undefined>;
  /** Fails when the report does not mention the process. */
  readonly reported: (name: string) => Promise<ProcessReport>;
  /** The lives of a child so far, oldest first. */
  readonly lives: (name: string) => readonly Started[];
}

/** Everything that the container started is killed after the test. */
export async function aContainer(
  t: TestContext,
  changes: Partial<ExecutorArguments> = {},
): Promise<Container> {
  const { path: root, [Symbol.asyncDispose]: remove } = await temporaryFolder();
  const folder = join(root, 'container');
  mkdirSync(folder);
  const args = executorArguments({
    topologyId: topologyId(`words-${randomUUID()}`),
    state: { kind: 'file', folder: join(root, 'state') },
    logDirectory: join(folder, 'log-files'),
    workingDirectory: folder,
    ...changes,
  });
  const stateManager = stateManagerAt(args.state);
  t.after(async () => {
    const left = findTopologyProcesses(systemProcessTable, args.topologyId);
    await killProcesses(left, { processes: systemProcessTable, clock: systemClock });
    await stateManager.close();
    await remove();
  });
  const report = async (): Promise<ContainerReport | undefined> => {
    const bytes = await stateManager.read(paths.container(args.topologyName, args.containerId));
    return bytes === undefined ? undefined : parseContainerReport(bytes);
  };
  return {
    arguments: args,
    stateManager,
    startExecutor: (settings = {}) => startStubExecutor(args, root, settings),
    writePlan: (plan) =>
      stateManager.write(paths.packingPlan(args.topologyName), encodePackingPlan(plan)),
    behave: (name, behaviour) => {
      const once = behaviour.endsWith(' once');
      const file = join(folder, `${name}.behaviour${once ? '-once' : ''}`);
      writeFileSync(file, once ? behaviour.slice(0, -' once'.length) : behaviour);
    },
    report,
    reported: async (name) => {
      const process = (await report())?.processes.find((candidate) => candidate.name === name);
      assert.ok(process !== undefined, `${name} is not in the report`);
      return process;
    },
    lives: (name) => startedIn(folder).filter((started) => started.name === name),
  };
}

function startStubExecutor(
  args: ExecutorArguments,
  root: string,
  settings: Readonly<Record<string, string>>,
): ProcessHandle {
  return systemProcessTable.startDetached(
    {
      name: 'executor',
      executable: process.execPath,
      arguments: [
        STUB_EXECUTOR,
        ...commonFlags(args),
        `--working-directory=${args.workingDirectory}`,
      ],
      environment: {
        ...process.env,
        ...topologyMark(args.topologyId),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        HERON_TEST_SETTINGS: JSON.stringify(settings),
      },
      workingDirectory: root,
      pidFolder: undefined,
    },
    join(root, 'executor.out'),
  );
}

export function startedIn(folder: string): readonly Started[] {
  const file = join(folder, 'started');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Started);
}
