import * as fc from 'fast-check';
import { hasCode } from '../../src/base/errors.ts';
import type { ComponentName } from '../../src/base/ids.ts';
import { componentName } from '../../src/base/ids.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import { aSpout, aTopology } from './topologies.ts';

export const MIB = 1024 ** 2;
export const GIB = 1024 ** 3;

/** What a test writes of a plan: `1 split[0]`, task and index by container. */
export type Places = Readonly<Record<number, readonly string[]>>;

export function placesIn({ containers }: PackingPlan): Places {
  return Object.fromEntries(
    containers.map(({ id, instances }) => [
      id,
      instances.map(
        ({ task, component, componentIndex }) => `${task} ${component}[${componentIndex}]`,
      ),
    ]),
  );
}

/** Components by name, with their numbers of tasks. */
export function topologyOf(
  components: Readonly<Record<string, number>>,
  config: Readonly<Record<string, string>> = {},
): LogicalTopology {
  const spouts = Object.entries(components).map(([name, parallelism]) =>
    aSpout(name, { parallelism }),
  );
  return aTopology(spouts, config);
}

/** What a repack is asked for: numbers of tasks by component. */
export function parallelismOf(
  wanted: Readonly<Record<string, number>>,
): ReadonlyMap<ComponentName, number> {
  return new Map(Object.entries(wanted).map(([name, tasks]) => [componentName(name), tasks]));
}

/** The topology with other numbers of tasks. */
export function withParallelism(
  topology: LogicalTopology,
  wanted: ReadonlyMap<ComponentName, number>,
): LogicalTopology {
  const components = topology.components.map((component) => ({
    ...component,
    parallelism: wanted.get(component.name) ?? component.parallelism,
  }));
  return { ...topology, components };
}

/** What `attempt` gives, or undefined when the limits are too small for it. */
export function unlessRefused<Result>(attempt: () => Result): Result | undefined {
  try {
    return attempt();
  } catch (error) {
    if (hasCode(error, 'INVALID_CONFIG')) return undefined;
    throw error;
  }
}

const COMPONENTS_MAX = 5;
const optionally = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });
const tasks = fc.integer({ min: 1, max: 9 });
const oneComponent = fc.record({
  parallelism: tasks,
  mib: optionally(fc.integer({ min: 192, max: 4096 })),
  thousandths: optionally(fc.integer({ min: 100, max: 4000 })),
  diskMib: optionally(fc.integer({ min: 1, max: 4096 })),
});

/** Random topologies: demands, limits and paddings; most can be packed, some cannot. */
export const topologies: fc.Arbitrary<LogicalTopology> = fc
  .record({
    components: fc.array(oneComponent, { minLength: 1, maxLength: COMPONENTS_MAX }),
    settings: fc.record(
      {
        'topology.stmgrs': fc.integer({ min: 1, max: 6 }),
        'topology.container.cpu': fc.integer({ min: 3000, max: 64_000 }).map((n) => n / 1000),
        'topology.container.ram': fc.integer({ min: 3000, max: 65_536 }).map((n) => n * MIB),
        'topology.container.disk': fc.integer({ min: 14_000, max: 65_536 }).map((n) => n * MIB),
        'topology.container.cpu.padding': fc.integer({ min: 0, max: 2000 }).map((n) => n / 1000),
        'topology.container.ram.padding': fc.integer({ min: 1, max: 2048 }).map((n) => n * MIB),
        'topology.container.padding.percentage': fc.integer({ min: 0, max: 30 }),
        'topology.container.max.instances': fc.integer({ min: 6, max: 20 }),
        'topology.packing.ffd.sorting.strategy': fc.constantFrom('RAM_FIRST', 'CPU_FIRST'),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ components, settings }) => {
    const names = components.map((_, position) => `c${position}`);
    const map = (amounts: readonly (number | undefined)[]): readonly string[] =>
      amounts.flatMap((amount, i) => (amount === undefined ? [] : [`${names[i]}:${amount}`]));
    const maps = {
      'topology.component.rammap': map(components.map(({ mib }) => mib && mib * MIB)),
      'topology.component.cpumap': map(components.map(({ thousandths: n }) => n && n / 1000)),
      'topology.component.diskmap': map(components.map(({ diskMib }) => diskMib && diskMib * MIB)),
    };
    const config = Object.fromEntries([
      ...Object.entries(settings).map(([key, value]) => [key, String(value)]),
      ...Object.entries(maps).flatMap(([key, pairs]) =>
        pairs.length === 0 ? [] : [[key, pairs.join(',')]],
      ),
    ]);
    const parallelism = components.map((component, i) => [names[i], component.parallelism]);
    return topologyOf(Object.fromEntries(parallelism), config);
  });

/** Wanted numbers of tasks for some of the components that `topologies` has. */
export const parallelisms: fc.Arbitrary<readonly (number | undefined)[]> = fc.array(
  optionally(tasks),
  { minLength: COMPONENTS_MAX, maxLength: COMPONENTS_MAX },
);

/** `parallelisms` for the components that a topology has. */
export function wantedIn(
  { components }: LogicalTopology,
  numbers: readonly (number | undefined)[],
): ReadonlyMap<ComponentName, number> {
  return new Map(
    components.flatMap(({ name }, position) => {
      const wanted = numbers[position];
      return wanted === undefined ? [] : [[name, wanted] as const];
    }),
  );
}
