import type { ComponentName } from '../../base/ids.ts';
import type { Component } from '../../model/logical-topology.ts';

/**
 * The stage of each component: 1 for spouts, and for a bolt one more than the latest of what it
 * reads. Components on a cycle, and those behind one, have none. What a bolt reads of a component
 * that does not exist counts for nothing.
 */
export function stagesOf(components: readonly Component[]): ReadonlyMap<ComponentName, number> {
  const sources = new Map(components.map((component) => [component.name, sourcesOf(component)]));
  const readers = new Map<ComponentName, ComponentName[]>();
  const waitsFor = new Map<ComponentName, number>();
  for (const [name, all] of sources) {
    const known = all.filter((source) => sources.has(source));
    waitsFor.set(name, known.length);
    for (const source of known) readers.set(source, [...(readers.get(source) ?? []), name]);
  }
  const stages = new Map<ComponentName, number>();
  const ready = [...waitsFor].filter(([, count]) => count === 0).map(([name]) => name);
  for (const name of ready) {
    const before = (sources.get(name) ?? []).map((source) => stages.get(source) ?? 0);
    stages.set(name, 1 + Math.max(0, ...before));
    for (const reader of readers.get(name) ?? []) {
      const left = (waitsFor.get(reader) ?? 0) - 1;
      waitsFor.set(reader, left);
      if (left === 0) ready.push(reader);
    }
  }
  return stages;
}

function sourcesOf(component: Component): readonly ComponentName[] {
  if (component.kind === 'spout') return [];
  return [...new Set(component.inputs.map((input) => input.component))];
}
