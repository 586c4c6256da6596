import type { ComponentName } from '../base/ids.ts';
import type { Component } from './logical-topology.ts';

/*
  Which spouts lose no message, whatever process dies: those that emit a message again when it has
  failed, and that after a death of their own go on where every message before has been acked. Only
  the author, or a base class that does it, can know; the builder writes it into the component's
  settings, so that the topology master finds it in the stored topology.
*/

/** In a component's settings, written by the engine alone: `true` for a spout that replays. */
export const REPLAYS_KEY = 'heron.component.replays';

/** What its author hears who sets it. */
export const REPLAYS_KEY_REFUSED = [
  `${REPLAYS_KEY} is the engine's own`,
  "say 'replays' in the options of setSpout instead",
].join('; ');

/** True for a spout that loses no message under at least once. */
export function isReplaying({ kind, config }: Pick<Component, 'kind' | 'config'>): boolean {
  return kind === 'spout' && config.get(REPLAYS_KEY) === 'true';
}

/**
 * The components of which every tuple comes again when it is lost: spouts that replay, and bolts
 * that only such spouts reach.
 */
export function replayedComponents(components: readonly Component[]): ReadonlySet<ComponentName> {
  const lossy = new Set<ComponentName>();
  const readers = new Map<ComponentName, ComponentName[]>();
  for (const component of components) {
    if (component.kind === 'spout') {
      if (!isReplaying(component)) lossy.add(component.name);
      continue;
    }
    for (const { component: source } of component.inputs) {
      const known = readers.get(source);
      if (known === undefined) readers.set(source, [component.name]);
      else known.push(component.name);
    }
  }
  // A set that grows while it is walked over: each component is looked at once.
  for (const name of lossy) for (const reader of readers.get(name) ?? []) lossy.add(reader);
  return new Set(components.map(({ name }) => name).filter((name) => !lossy.has(name)));
}
