import { styleText } from 'node:util';
import { BYTES_PER_MB } from '../base/units.ts';
import type { ContainerPlan, Resource } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import type { DryRunFormat } from './dry-run-format.ts';
import type { Output } from './output.ts';
import { type Place, placeText } from './place.ts';
import type { PreparedTopology } from './prepare-topology.ts';
import { textTable } from './text-table.ts';

/*
  What a submit would run where, in Heron's formats. Nothing of it is stored: these are the plans
  that a real submit would make of the same module, arguments and settings.
*/

export type Styles = Pick<Output, 'style'>;

/** Colours also where there is no terminal: whoever asks for them will show them. */
export const COLOURED: Styles = {
  style: (style, text) => styleText(style, text, { validateStream: false }),
};

/** What --json prints of a dry run (docs/cli.md). */
export function dryRunJson({ topology, packingPlan, warnings }: PreparedTopology, place: Place) {
  const { containers } = packingPlan;
  return {
    name: topology.name,
    ...place,
    dryRun: true,
    initialState: topology.state,
    packing: new Settings(topology.config).get('heron.packing.algorithm'),
    containers: containers.map(({ id, required, instances }) => ({
      id,
      required,
      tasks: instances.map(({ task, component, componentIndex, resource }) => ({
        task,
        component,
        componentIndex,
        resource,
      })),
    })),
    total: totalOf(containers),
    warnings,
  };
}

export function dryRunText(
  prepared: PreparedTopology,
  place: Place,
  format: DryRunFormat,
  output: Styles,
): string {
  switch (format) {
    case 'json':
      return JSON.stringify(dryRunJson(prepared, place), undefined, 2);
    case 'raw':
      return rawText(prepared);
    case 'table':
      return tableText(prepared, place, output);
    case 'colored-table':
      return tableText(prepared, place, COLOURED);
  }
}

function tableText(
  { topology, packingPlan }: PreparedTopology,
  place: Place,
  styles: Styles,
): string {
  const { containers } = packingPlan;
  const tasks = containers.reduce((sum, { instances }) => sum + instances.length, 0);
  const algorithm = new Settings(topology.config).get('heron.packing.algorithm');
  const sum = `${counted(tasks, 'task')} in ${counted(containers.length, 'container')}`;
  return [
    `${topology.name} would run in ${placeText(place)}: ${sum}, by ${algorithm}`,
    `in all: ${amountText(totalOf(containers))}`,
    ...containers.flatMap((container) => ['', ...containerLines(container, styles)]),
    '',
    'nothing was started: this was a dry run',
  ].join('\n');
}

function containerLines(
  { id, required, instances }: ContainerPlan,
  styles: Styles,
): readonly string[] {
  const rows = instances.map(({ component, task, resource }) => [
    component,
    `${task}`,
    `${resource.cpuCores}`,
    megabytes(resource.ramBytes),
    megabytes(resource.diskBytes),
  ]);
  const head = ['COMPONENT', 'TASK', 'CPU', 'RAM (MB)', 'DISK (MB)'];
  const title = styles.style('cyan', `container ${id}`);
  return [`${title}: ${amountText(required)}`, textTable(head, rows, styles)];
}

/** Exact, one line for each container and each task, for `diff` and `awk`. */
function rawText({ packingPlan: { id, containers } }: PreparedTopology): string {
  const lines = containers.flatMap((container) => [
    `container ${container.id} ${rawAmount(container.required)}`,
    ...container.instances.map(
      ({ component, task, componentIndex, resource }) =>
        `task ${task} ${component} ${componentIndex} ${rawAmount(resource)}`,
    ),
  ]);
  return [`plan ${id}`, ...lines].join('\n');
}

export function rawAmount({ cpuCores, ramBytes, diskBytes }: Resource): string {
  return `cpu ${cpuCores} ram ${ramBytes} disk ${diskBytes}`;
}

export function amountText({ cpuCores, ramBytes, diskBytes }: Resource): string {
  const memory = `${megabytes(ramBytes)} MB of memory`;
  return `${counted(cpuCores, 'core')}, ${memory}, ${megabytes(diskBytes)} MB of disk`;
}

export function totalOf(containers: readonly ContainerPlan[]): Resource {
  const sum = (key: keyof Resource): number =>
    containers.reduce((total, { required }) => total + required[key], 0);
  return { cpuCores: sum('cpuCores'), ramBytes: sum('ramBytes'), diskBytes: sum('diskBytes') };
}

export function counted(number: number, noun: string): string {
  return `${rounded(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function megabytes(bytes: number): string {
  return rounded(bytes / BYTES_PER_MB);
}

function rounded(value: number): string {
  return `${Number(value.toFixed(2))}`;
}
