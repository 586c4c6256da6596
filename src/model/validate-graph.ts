import type { ComponentName } from '../base/ids.ts';
import type { BoltComponent, Component } from './logical-topology.ts';
import { quotable } from './quotable.ts';

/*
  Problems of a topology as a graph: tuples must flow from spouts through all bolts and come to an
  end. Without a cycle bounded queues cannot lock up, and input that ends reaches every bolt.
*/

/** One sentence for each problem. Inputs from components that do not exist are left to others. */
export function graphProblems(components: readonly Component[]): readonly string[] {
  const cycles = findCycles(components);
  return [
    ...(components.some(({ kind }) => kind === 'spout')
      ? []
      : ['the topology has no spout: at least one must emit tuples']),
    ...components
      .filter((component) => component.kind === 'bolt' && component.inputs.length === 0)
      .map(
        ({ name }) =>
          `bolt '${quotable(name)}' reads nothing: add a grouping, such as shuffleGrouping(source)`,
      ),
    ...cycles.map(
      (cycle) =>
        `the bolts form a cycle: ${[...cycle, cycle[0] ?? ''].map(quotable).join(' → ')}; ` +
        'break it at one place',
    ),
    ...unreachable(components, new Set(cycles.flat())).map(
      ({ name }) =>
        `bolt '${quotable(name)}' cannot be reached: nothing that a spout emits arrives at it`,
    ),
  ];
}

/** The names by which components read each other: from a component to its sources. */
type Sources = ReadonlyMap<ComponentName, readonly ComponentName[]>;

function sourcesOf(components: readonly Component[]): Sources {
  return new Map(
    components.map((component) => [
      component.name,
      component.kind === 'bolt'
        ? [...new Set(component.inputs.map((input) => input.component))]
        : [],
    ]),
  );
}

/**
 * Cycles that share no component, each in the direction in which tuples flow. A walk against the
 * stream from every component: one that meets its own path has found a cycle. The path is kept by
 * hand, because a chain of components may be longer than the stack.
 */
function findCycles(components: readonly Component[]): readonly (readonly ComponentName[])[] {
  const sources = sourcesOf(components);
  const cycles: ComponentName[][] = [];
  const onCycle = new Set<ComponentName>();
  const done = new Set<ComponentName>();
  for (const { name: start } of components) {
    /** The walk: each component, in order, with the position of the source to look at next. */
    const path = new Map<ComponentName, number>();
    let at: ComponentName | undefined = done.has(start) ? undefined : start;
    const back: ComponentName[] = [];
    while (at !== undefined) {
      const position: number = path.get(at) ?? 0;
      const source: ComponentName | undefined = sources.get(at)?.[position];
      path.set(at, position + 1);
      if (source === undefined) {
        done.add(at);
        path.delete(at);
        at = back.pop();
      } else if (path.has(source)) {
        const names = [...path.keys()];
        const cycle = names.slice(names.indexOf(source));
        if (!cycle.some((member) => onCycle.has(member))) cycles.push(cycle.toReversed());
        for (const member of cycle) onCycle.add(member);
      } else if (!done.has(source)) {
        back.push(at);
        at = source;
      }
    }
  }
  return cycles;
}

/** Bolts that read something, are on no cycle, and still get nothing from any spout. */
function unreachable(
  components: readonly Component[],
  onCycle: ReadonlySet<ComponentName>,
): readonly BoltComponent[] {
  const known = new Set(components.map(({ name }) => name));
  const reached = new Set<ComponentName>();
  const readers = readersOf(components);
  const waiting = components.filter(({ kind }) => kind === 'spout').map(({ name }) => name);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    waiting.push(...(readers.get(name) ?? []));
  }
  return components.filter(
    (component): component is BoltComponent =>
      component.kind === 'bolt' &&
      !reached.has(component.name) &&
      !onCycle.has(component.name) &&
      component.inputs.some((input) => known.has(input.component)),
  );
}

function readersOf(components: readonly Component[]): Sources {
  const readers = new Map<ComponentName, ComponentName[]>();
  for (const [reader, sources] of sourcesOf(components)) {
    for (const source of sources) {
      readers.set(source, [...(readers.get(source) ?? []), reader]);
    }
  }
  return readers;
}
