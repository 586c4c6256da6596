import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import { AdvisedError } from '../advised-error.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import {
  containersTable,
  logicalPlanTable,
  metricsText,
  topologiesTable,
} from '../explore/explore-text.ts';
import { type ExploreSource, type LogicalPlan, readersOf } from '../explore/explored.ts';
import { figuresOf } from '../explore/figures.ts';
import { StateSource } from '../explore/state-source.ts';
import { TrackerSource } from '../explore/tracker-source.ts';
import type { TopologyArguments } from '../find-topology.ts';
import { parsePlace } from '../place.ts';

/** Heron's explorer: clusters, topologies and their plans, as text or JSON. Only reads. */
export interface ExploreOptions {
  /** A Tracker to ask; the state store is read without one. */
  readonly trackerUrl?: URL | undefined;
}

export async function exploreClusters(
  options: ExploreOptions,
  context: CommandContext,
): Promise<CommandResult> {
  await using source = open(options, context);
  const clusters = await source.clusters();
  return { json: { clusters }, text: clusters.join('\n') };
}

export async function exploreTopologies(
  { place, ...options }: ExploreOptions & { readonly place: string },
  context: CommandContext,
): Promise<CommandResult> {
  await using source = open(options, context);
  const topologies = await source.topologies(parsePlace(place));
  const text =
    topologies.length === 0
      ? `there are no topologies in ${place}`
      : topologiesTable(topologies, context.output);
  return { json: { topologies }, text };
}

export type ComponentType = 'all' | 'spouts' | 'bolts';

export async function exploreLogicalPlan(
  given: ExploreOptions & TopologyArguments & { readonly componentType: ComponentType },
  context: CommandContext,
): Promise<CommandResult> {
  await using source = open(given, context);
  const topology = await source.topology(parsePlace(given.place), given.name);
  const plan = await topology.logicalPlan();
  const { componentType } = given;
  const shown = plan.components.filter(
    ({ type }) => componentType === 'all' || `${type}s` === componentType,
  );
  const components = shown.map(({ type, name, parallelism, inputs, streams }) => ({
    type,
    name,
    parallelism,
    inputs,
    streams,
    readers: readersOf(name, plan),
  }));
  return {
    json: { name: given.name, components },
    text: logicalPlanTable(shown, plan, context.output),
  };
}

export async function exploreMetrics(
  given: ExploreOptions & TopologyArguments & { readonly component?: string | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  await using source = open(given, context);
  const topology = await source.topology(parsePlace(given.place), given.name);
  const plan = await topology.logicalPlan();
  const instances = await Promise.all(
    componentsIn(plan, given).map(async (component) =>
      (await topology.metrics(component)).map(({ instance, numbers }) =>
        figuresOf(component, instance, numbers),
      ),
    ),
  );
  const metrics = instances.flat();
  const text =
    metrics.length === 0
      ? `no metrics have arrived of ${given.component ?? given.name} yet`
      : metricsText(metrics, context.output);
  return { json: { name: given.name, metrics }, text };
}

export async function exploreContainers(
  given: ExploreOptions & TopologyArguments & { readonly id?: number | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  const { name, id } = given;
  await using source = open(given, context);
  const topology = await source.topology(parsePlace(given.place), name);
  const all = await topology.containers();
  const containers = all.filter((container) => id === undefined || container.id === id);
  if (id !== undefined && containers.length === 0) {
    const known = all.map((container) => container.id).join(', ');
    throw new AdvisedError('INVALID_ARGUMENT', `${name} has no container ${id}`, {
      domain: 'user',
      next: `its plan has ${known}`,
    });
  }
  return { json: { name, containers }, text: containersTable(containers, context.output) };
}

function open({ trackerUrl }: ExploreOptions, context: CommandContext): ExploreSource {
  return trackerUrl === undefined ? new StateSource(context) : new TrackerSource(trackerUrl);
}

/** @throws EngineError INVALID_ARGUMENT when there is no such component. */
function componentsIn(
  { components }: LogicalPlan,
  { name, component }: { readonly name: string; readonly component?: string | undefined },
): LogicalPlan['components'] {
  const found = components.filter((each) => component === undefined || each.name === component);
  if (component === undefined || found.length > 0) return found;
  const known = components.map((each) => each.name);
  const hint = didYouMean(component, known);
  const text = `${name} has no component '${quotable(component)}'${hint}`;
  throw new AdvisedError('INVALID_ARGUMENT', text, {
    domain: 'user',
    next: `it has ${known.join(', ')}`,
  });
}
