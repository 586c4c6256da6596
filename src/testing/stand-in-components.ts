import {
  type AnyComponent,
  type ComponentFactory,
  isSpout,
  streamsOf,
} from '../api/component-runtime.ts';
import type { BuiltTopology } from '../api/topology.ts';
import { userError } from '../base/errors.ts';
import { type ComponentName, componentName } from '../base/ids.ts';
import type { Component, OutputStream } from '../model/logical-topology.ts';
import { didYouMean } from '../model/nearest.ts';
import { scriptedSpout } from './scripted-spout.ts';
import { SpoutScript } from './spout-script.ts';

/** What runs in place of a component: a script for a spout, or a factory of another component. */
export type StandIn = SpoutScript | (() => AnyComponent);

export interface TopologyChanges {
  readonly components?: Readonly<Record<string, StandIn>>;
  readonly parallelism?: Readonly<Record<string, number>>;
}

/**
 * The topology with stand-ins for some of its components. Its streams and its wiring stay.
 *
 * @throws EngineError INVALID_ARGUMENT for a component that is not there, or that the stand-in does
 *   not fit.
 */
export function withStandIns(
  built: BuiltTopology,
  { components = {}, parallelism = {} }: TopologyChanges,
): BuiltTopology {
  const { topology, factories } = built;
  const changed = new Map<ComponentName, ComponentFactory>(factories);
  for (const [name, standIn] of Object.entries(components)) {
    changed.set(
      componentName(name),
      factoryOf(declaredComponent(topology.components, name), standIn),
    );
  }
  for (const name of Object.keys(parallelism)) declaredComponent(topology.components, name);
  const declared = topology.components.map((component) => ({
    ...component,
    parallelism: parallelism[component.name] ?? component.parallelism,
  }));
  return { ...built, topology: { ...topology, components: declared }, factories: changed };
}

/** @throws EngineError INVALID_ARGUMENT that names the component that was probably meant. */
export function declaredComponent(components: readonly Component[], name: string): Component {
  const found = components.find((component) => component.name === name);
  if (found !== undefined) return found;
  const names = components.map((component) => component.name);
  const hint = didYouMean(name, names) || `; there are ${names.join(', ')}`;
  throw userError('INVALID_ARGUMENT', `the topology has no component '${name}'${hint}`);
}

function factoryOf(component: Component, standIn: StandIn): ComponentFactory {
  const { name, kind, outputs } = component;
  if (standIn instanceof SpoutScript) {
    if (kind === 'spout') return scriptedSpout(standIn, outputs);
    throw userError('INVALID_ARGUMENT', `'${name}' is a bolt: spoutFrom() stands in for a spout`);
  }
  const made = standIn();
  const madeKind = isSpout(made) ? 'spout' : 'bolt';
  if (madeKind !== kind) {
    throw userError(
      'INVALID_ARGUMENT',
      `'${name}' is a ${kind}: a ${madeKind} cannot stand in for it`,
    );
  }
  const declared = describeStreams(outputs);
  const offered = describeStreams(streamsOf(made));
  if (declared !== offered) {
    throw userError(
      'INVALID_ARGUMENT',
      `what stands in for '${name}' has to declare the same streams: ${declared}, not ${offered}`,
    );
  }
  return standIn;
}

function describeStreams(outputs: readonly OutputStream[]): string {
  const streams = outputs.map(({ stream, fields }) => `${stream}: [${fields.join(', ')}]`);
  return `{ ${streams.join(', ')} }`;
}
