import { userError } from '../../base/errors.ts';
import { componentName } from '../../base/ids.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import type { DryRunFormat } from '../dry-run-format.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { placeText } from '../place.ts';
import { runningId } from '../running-id.ts';
import { awaitUpdate } from '../update/await-update.ts';
import { changeConfig } from '../update/change-config.ts';
import { type StoredNumbers, storeNumbers, undoCommand } from '../update/change-numbers.ts';
import { dryRunNumbers } from '../update/dry-run-update.ts';
import { changesText } from '../../model/plan-sizes.ts';
import { askedText } from '../update/asked-sizes.ts';

export interface UpdateArguments extends TopologyArguments {
  readonly componentParallelism: ReadonlyMap<string, number>;
  readonly containerNumber: number | undefined;
  /** `[component:]key:value` each. */
  readonly runtimeConfig: readonly string[];
  /** Only says what would change. */
  readonly dryRun: DryRunFormat | undefined;
  /** Also a change that looks like a slip of the keyboard. */
  readonly force: boolean;
  /** False: returns when the change is stored. */
  readonly wait: boolean;
  readonly timeoutSeconds: number;
}

const MS_PER_SECOND = 1000;

/** Changes a topology while it runs. Resolves when the change is in force everywhere. */
export async function update(
  given: UpdateArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const request = requestOf(given);
  await using found = await findTopology(given, context);
  runningId(found);
  const { topology, name } = found.status.record;
  if (topology === undefined) {
    throw userError('TOPOLOGY_NOT_READY', `${name} has no definition: nothing runs`);
  }
  if (request === undefined) return await changeConfig(given, topology, found, context);
  return await changeNumbers(given, request, topology, found, context);
}

/**
 * Undefined when it is settings that are to change.
 *
 * @throws EngineError INVALID_ARGUMENT when nothing is to change, or both
 */
function requestOf(given: UpdateArguments): RepackRequest | undefined {
  const { componentParallelism, containerNumber: containers, runtimeConfig } = given;
  const hasNumbers = componentParallelism.size > 0 || containers !== undefined;
  if (!hasNumbers && runtimeConfig.length === 0) {
    const options = '--component-parallelism, --container-number or --runtime-config';
    throw userError('INVALID_ARGUMENT', `nothing is to change: ${options} is missing`);
  }
  if (hasNumbers && runtimeConfig.length > 0) {
    const text =
      'change the numbers of tasks and containers, or --runtime-config: not both at once';
    throw userError('INVALID_ARGUMENT', text);
  }
  if (!hasNumbers) return undefined;
  const parallelism = new Map(
    Array.from(componentParallelism, ([name, tasks]) => [componentName(name), tasks] as const),
  );
  return containers === undefined ? { parallelism } : { parallelism, containers };
}

async function changeNumbers(
  given: UpdateArguments,
  request: RepackRequest,
  topology: LogicalTopology,
  found: FoundTopology,
  context: CommandContext,
): Promise<CommandResult> {
  const { dryRun, force, wait, timeoutSeconds } = given;
  const { output, clock } = context;
  if (dryRun !== undefined) return await dryRunNumbers(request, topology, found, dryRun, output);
  const deadlineMs = clock.now() + timeoutSeconds * MS_PER_SECOND;
  const stored = await storeNumbers({ found, topology, request, force, deadlineMs }, context);
  for (const warning of stored.warnings) output.warn(`warning: ${warning}`);
  const { packingPlan } = stored;
  if (packingPlan === undefined) return resultOf(stored, 'UNCHANGED', request, found);
  announce(stored, topology, context);
  if (!wait) return resultOf(stored, 'UPDATING', request, found);
  const undo = undoCommand(found, topology, stored.changes);
  const { cluster, place } = found;
  await awaitUpdate(
    { place, topology, packingPlan, deadlineMs, timeoutSeconds, undo },
    cluster,
    context,
  );
  return resultOf(stored, 'UPDATED', request, found);
}

function announce(
  { changes, givenUp, isStored }: StoredNumbers,
  { name }: LogicalTopology,
  { output }: CommandContext,
): void {
  if (givenUp.length > 0) output.say(`the update before it gives way: ${changesText(givenUp)}`);
  if (!isStored) output.say(`${name} is being updated so already`);
  if (changes.length > 0) output.say(`${name}: ${changesText(changes)}`);
}

function resultOf(
  { packingPlan, isStored, changes, tasks, givenUp, warnings }: StoredNumbers,
  state: 'UNCHANGED' | 'UPDATING' | 'UPDATED',
  request: RepackRequest,
  { place, status }: FoundTopology,
): CommandResult {
  const { id, record } = status;
  const { name } = record;
  return {
    json: {
      name,
      id,
      ...place,
      state,
      changed: isStored,
      changes: changes.map(({ component, ...sizes }) => ({
        component: component ?? null,
        ...sizes,
      })),
      added: tasks.tasksAdded,
      retired: tasks.tasksRemoved,
      epoch: packingPlan?.epoch ?? null,
      gaveWay: givenUp.length > 0,
      warnings,
    },
    text: textOf(),
  };

  function textOf(): string {
    const what = changesText(changes);
    const statusCommand = `'heron status ${placeText(place)} ${name}'`;
    switch (state) {
      case 'UNCHANGED': {
        const asked = askedText(record.packingPlan ?? { id: '', containers: [] }, request);
        return `nothing to do: ${asked} already`;
      }
      case 'UPDATING':
        return `the change is stored; how far it is says ${statusCommand}`;
      case 'UPDATED':
        return what === '' ? `${name} is as asked for` : `${name} was updated: ${what}`;
    }
  }
}
