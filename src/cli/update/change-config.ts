import { environmentError, userError } from '../../base/errors.ts';
import type { ConfigMap, LogicalTopology } from '../../model/logical-topology.ts';
import {
  effectiveConfig,
  parseRuntimeChange,
  type RuntimeChange,
  runtimeChangeProblems,
} from '../../model/runtime-config.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import { awaitMaster } from '../await-master.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import type { DryRunFormat } from '../dry-run-format.ts';
import type { FoundTopology } from '../find-topology.ts';
import { commandMaster } from '../../topology-client/master-client.ts';
import { readPlans } from './change-numbers.ts';

/*
  Settings that change while a topology runs. The topology master stores them in the plan in force
  and hands that out, so the plan says whether a change is done: repeated, the command finds it so.
*/

export interface ConfigArguments {
  readonly runtimeConfig: readonly string[];
  readonly dryRun: DryRunFormat | undefined;
}

/** One setting as it was and as it will be; null where it was not set. */
interface ShownChange {
  readonly component: string | null;
  readonly key: string;
  readonly from: string | null;
  readonly to: string;
}

export async function changeConfig(
  given: ConfigArguments,
  topology: LogicalTopology,
  found: FoundTopology,
  context: CommandContext,
): Promise<CommandResult> {
  const changes = parseChanges(given.runtimeConfig);
  const [problem] = runtimeChangeProblems(changes, topology);
  if (problem !== undefined) throw userError('INVALID_ARGUMENT', problem);
  const { physicalPlan } = await readPlans(found, topology);
  const shown = changes.map((change) => shownChange(change, physicalPlan.topology));
  const isDone = shown.every(({ from, to }) => from === to);
  if (given.dryRun !== undefined) {
    return resultOf(shown, found, { dryRun: true, changed: false }, 'would change');
  }
  if (isDone) return resultOf(shown, found, { changed: false }, 'has this already');
  await command(given.runtimeConfig, topology, found, context);
  context.afterStep('runtime-config');
  await verify(changes, topology, found);
  return resultOf(shown, found, { changed: true }, 'was updated');
}

function parseChanges(texts: readonly string[]): readonly RuntimeChange[] {
  return texts.map((text) => {
    const change = parseRuntimeChange(text);
    if (change !== undefined) return change;
    const form = 'it is written [component:]key:value, and none of the three holds a colon';
    throw userError('INVALID_ARGUMENT', `--runtime-config '${text}': ${form}`);
  });
}

async function command(
  runtimeConfig: readonly string[],
  { name, id }: LogicalTopology,
  { cluster }: FoundTopology,
  context: CommandContext,
): Promise<void> {
  const { master, token } = await awaitMaster(name, id, cluster, context);
  const wanted = { command: 'runtime_config/update', topologyId: id, token } as const;
  await commandMaster(master, { ...wanted, runtimeConfig });
}

/** The master answers when the plan is stored; another command may have come in between. */
async function verify(
  changes: readonly RuntimeChange[],
  { name }: LogicalTopology,
  { cluster }: FoundTopology,
): Promise<void> {
  const bytes = await cluster.stateManager.read(paths.physicalPlan(name));
  const topology = bytes && decodePhysicalPlan(bytes).topology;
  const missing = changes.find(
    (change) => topology === undefined || valueIn(change, topology) !== change.value,
  );
  if (missing === undefined) return;
  const text = `another command has changed ${missing.key} of ${name} in the same moment`;
  throw environmentError('STATE_CONFLICT', text);
}

function shownChange(change: RuntimeChange, topology: LogicalTopology): ShownChange {
  const { component, key, value } = change;
  const from = valueIn(change, topology) ?? null;
  return { component: component ?? null, key, from, to: value };
}

function valueIn(
  { component, key }: RuntimeChange,
  { config, components }: LogicalTopology,
): string | undefined {
  const own = components.find(({ name }) => name === component)?.config;
  const layer: ConfigMap | undefined = component === undefined ? config : own;
  return layer && effectiveConfig(layer).get(key);
}

function resultOf(
  changes: readonly ShownChange[],
  { place, status }: FoundTopology,
  facts: { readonly changed: boolean; readonly dryRun?: true },
  verb: string,
): CommandResult {
  const { id, record } = status;
  const lines = changes.map(({ component, key, from, to }) => {
    const whose = component === null ? '' : `${component}: `;
    return `${whose}${key} ${from ?? '(not set)'} → ${to}`;
  });
  return {
    json: { name: record.name, id, ...place, ...facts, runtimeConfig: changes },
    text: `${record.name} ${verb}: ${lines.join(', ')}`,
  };
}
