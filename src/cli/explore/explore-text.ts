import type { Output } from '../output.ts';
import { textTable } from '../text-table.ts';
import {
  type ExploredContainer,
  type ListedTopology,
  type LogicalPlan,
  readersOf,
} from './explored.ts';
import type { InstanceFigures } from './figures.ts';

/* The tables of heron-explorer. Pure but for the colours of their heads. */

type Styled = Pick<Output, 'style'>;
type Row = readonly string[];

const NONE = '-';

export function topologiesTable(found: readonly ListedTopology[], output: Styled): string {
  const rows = found.map(({ cluster, role, environ, name }) => [cluster, role, environ, name]);
  return textTable(['CLUSTER', 'ROLE', 'ENV', 'TOPOLOGY'], rows, output);
}

export function logicalPlanTable(
  shown: LogicalPlan['components'],
  plan: LogicalPlan,
  output: Styled,
): string {
  const rows = shown.map(({ type, name, parallelism, inputs }) => [
    type,
    name,
    `${parallelism}`,
    listed(inputs.map(({ component }) => component)),
    listed(readersOf(name, plan)),
  ]);
  return textTable(['TYPE', 'NAME', 'PARALLELISM', 'INPUT', 'OUTPUT'], rows, output);
}

export function containersTable(shown: readonly ExploredContainer[], output: Styled): string {
  const rows = shown.map(({ id, host, port, pid, spouts, bolts }) => [
    `${id}`,
    host,
    `${port ?? NONE}`,
    `${pid ?? NONE}`,
    `${bolts}`,
    `${spouts}`,
  ]);
  return textTable(['CONTAINER', 'HOST', 'PORT', 'PID', '#BOLT', '#SPOUT'], rows, output);
}

const FIGURES = [
  ['EMITTED', 'emitted', count],
  ['EXECUTED', 'executed', count],
  ['ACKED', 'acked', count],
  ['FAILED', 'failed', count],
  ['COMPLETE (MS)', 'completeMs', milliseconds],
  ['EXECUTE (MS)', 'executeMs', milliseconds],
  ['PROCESS (MS)', 'processMs', milliseconds],
  ['UPTIME (S)', 'uptimeSeconds', count],
  ['CPU', 'cpuLoad', milliseconds],
  ['MEMORY (MB)', 'memoryMb', count],
] as const satisfies readonly (readonly [
  string,
  keyof InstanceFigures,
  (value: number) => string,
])[];

/** One table a component, with the columns of which anything is known. */
export function metricsText(figures: readonly InstanceFigures[], output: Styled): string {
  const components = Map.groupBy(figures, ({ component }) => component);
  return [...components]
    .map(([name, instances]) => {
      const columns = FIGURES.filter(([, key]) => instances.some((each) => each[key] !== null));
      const rows: readonly Row[] = instances.map((each) => [
        each.instance,
        ...columns.map(([, key, text]) => {
          const value = each[key];
          return value === null ? NONE : text(value);
        }),
      ]);
      const head = ['INSTANCE', ...columns.map(([title]) => title)];
      return `${output.style('bold', name)}\n${textTable(head, rows, output)}`;
    })
    .join('\n\n');
}

function count(value: number): string {
  return value.toFixed(0);
}

function milliseconds(value: number): string {
  return value.toFixed(3);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? NONE : [...new Set(names)].join(',');
}
