import type { InstancePlan, PackingPlan } from '../../model/packing-plan.ts';
import { isSameResource } from '../../model/compare-packing-plans.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { Settings } from '../../model/settings.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import type { CommandResult } from '../command-context.ts';
import { amountText, COLOURED, megabytes, rawAmount, type Styles, totalOf } from '../dry-run.ts';
import type { DryRunFormat } from '../dry-run-format.ts';
import type { FoundTopology } from '../find-topology.ts';
import { type Place, placeText } from '../place.ts';
import { textTable } from '../text-table.ts';
import { readPlans } from './change-numbers.ts';
import { decideUpdate, unlikelyChange } from './decide-update.ts';
import { changesText, sizeChanges } from '../../model/plan-sizes.ts';

/*
  What an update would change, in the formats of a submit's dry run: containers with their tasks,
  each with a sign for what becomes of it. The numbers of new tasks are those that the update would
  give them now. Nothing is stored.

    +  new   -  retires   ~  stays, with another index or share of its container
*/

/** What a dry run shows. */
export interface ShownUpdate {
  readonly topology: LogicalTopology;
  readonly place: Place;
  readonly base: PackingPlan;
  readonly target: PackingPlan;
  readonly warnings: readonly string[];
}

export async function dryRunNumbers(
  request: RepackRequest,
  topology: LogicalTopology,
  found: FoundTopology,
  format: DryRunFormat,
  output: Styles & { warn(line: string): void },
): Promise<CommandResult> {
  const { packingPlan, physicalPlan } = await readPlans(found, topology);
  const decision = decideUpdate({ topology, packingPlan, physicalPlan, request });
  const shown: ShownUpdate = {
    topology,
    place: found.place,
    ...shownPlans(packingPlan, decision),
  };
  const slip = unlikelyChange(topology, sizeChanges(shown.base, shown.target));
  const warnings = [...shown.warnings, ...(slip === undefined ? [] : [`${slip}: needs --force`])];
  for (const warning of warnings) output.warn(`warning: ${warning}`);
  const all = { ...shown, warnings };
  return { json: dryRunUpdateJson(all), text: dryRunUpdateText(all, format, output) };
}

function shownPlans(
  packingPlan: PackingPlan,
  decision: ReturnType<typeof decideUpdate>,
): Pick<ShownUpdate, 'base' | 'target' | 'warnings'> {
  switch (decision.kind) {
    case 'done':
      return { base: packingPlan, target: packingPlan, warnings: [] };
    case 'join':
      return { base: decision.base, target: decision.target, warnings: [] };
    case 'retiring':
    case 'store':
      return decision.planned;
  }
}

/** What --json prints of a dry run (docs/cli.md). */
export function dryRunUpdateJson({ topology, place, base, target, warnings }: ShownUpdate) {
  const containers = containersOf(base, target);
  return {
    name: topology.name,
    ...place,
    dryRun: true,
    packing: new Settings(topology.config).get('heron.packing.algorithm'),
    changes: sizeChanges(base, target).map(({ component, ...sizes }) => ({
      component: component ?? null,
      ...sizes,
    })),
    containers: containers.map(({ id, change, required, tasks }) => ({
      id,
      change,
      required,
      tasks: tasks.map(({ instance: { task, component, componentIndex, resource }, ...of }) => ({
        change: of.change,
        task,
        component,
        componentIndex,
        resource,
      })),
    })),
    total: totalOf(target.containers),
    warnings,
  };
}

export function dryRunUpdateText(shown: ShownUpdate, format: DryRunFormat, output: Styles): string {
  switch (format) {
    case 'json':
      return JSON.stringify(dryRunUpdateJson(shown), undefined, 2);
    case 'raw':
      return rawText(shown);
    case 'table':
      return tableText(shown, output);
    case 'colored-table':
      return tableText(shown, COLOURED);
  }
}

type Change = 'same' | 'added' | 'removed' | 'changed';

interface ShownContainer {
  readonly id: number;
  readonly change: Change;
  /** As it will be; of one that goes, as it is. */
  readonly required: PackingPlan['containers'][number]['required'];
  readonly tasks: readonly { readonly change: Change; readonly instance: InstancePlan }[];
}

/** The containers of both plans, and their tasks, in the order of their ids. */
function containersOf(base: PackingPlan, target: PackingPlan): readonly ShownContainer[] {
  const before = new Map(base.containers.map((container) => [container.id, container]));
  const after = new Map(target.containers.map((container) => [container.id, container]));
  const ids = [...new Set([...before.keys(), ...after.keys()])].toSorted((a, b) => a - b);
  return ids.flatMap((id): readonly ShownContainer[] => {
    const [was, is] = [before.get(id), after.get(id)];
    const container = is ?? was;
    if (container === undefined) return [];
    const tasks = tasksOf(was?.instances ?? [], is?.instances ?? []);
    const isSame = tasks.every(({ change }) => change === 'same');
    const kept: Change = isSame ? 'same' : 'changed';
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : kept;
    return [{ id, change, required: container.required, tasks }];
  });
}

function tasksOf(
  before: readonly InstancePlan[],
  after: readonly InstancePlan[],
): ShownContainer['tasks'] {
  const was = new Map(before.map((instance) => [instance.task, instance]));
  const staying = new Set(after.map(({ task }) => task));
  const gone = before.filter(({ task }) => !staying.has(task));
  return [
    ...after.map((instance) => ({ change: changeOf(was.get(instance.task), instance), instance })),
    ...gone.map((instance) => ({ change: 'removed' as const, instance })),
  ].toSorted((left, right) => left.instance.task - right.instance.task);
}

function changeOf(was: InstancePlan | undefined, is: InstancePlan): Change {
  if (was === undefined) return 'added';
  const isSame =
    was.componentIndex === is.componentIndex && isSameResource(was.resource, is.resource);
  return isSame ? 'same' : 'changed';
}

const SIGNS: Readonly<Record<Change, string>> = {
  same: ' ',
  added: '+',
  removed: '-',
  changed: '~',
};
const COLOURS = { added: 'green', removed: 'red', changed: 'yellow' } as const;
const TITLES: Readonly<Record<Change, string>> = {
  same: '',
  added: 'new, ',
  removed: 'goes when its tasks have ended, ',
  changed: '',
};

function tableText({ topology, place, base, target }: ShownUpdate, styles: Styles): string {
  const changes = changesText(sizeChanges(base, target));
  const containers = containersOf(base, target);
  const isSame = containers.every(({ change }) => change === 'same');
  const what = changes === '' ? (isSame ? 'nothing' : 'the places of its tasks') : changes;
  const algorithm = new Settings(topology.config).get('heron.packing.algorithm');
  return [
    `${topology.name} would change in ${placeText(place)}: ${what}, by ${algorithm}`,
    `in all then: ${amountText(totalOf(target.containers))}`,
    ...containers.flatMap((container) => ['', ...containerLines(container, styles)]),
    '',
    'nothing was changed: this was a dry run',
  ].join('\n');
}

function containerLines(
  { id, change, required, tasks }: ShownContainer,
  styles: Styles,
): readonly string[] {
  const rows = tasks.map(({ change: of, instance }) => {
    const { component, task, componentIndex, resource } = instance;
    const cells = [
      SIGNS[of],
      component,
      `${task}`,
      `${componentIndex}`,
      `${resource.cpuCores}`,
      megabytes(resource.ramBytes),
      megabytes(resource.diskBytes),
    ];
    return of === 'same' ? cells : cells.map((cell) => styles.style(COLOURS[of], cell));
  });
  const head = ['', 'COMPONENT', 'TASK', 'INDEX', 'CPU', 'RAM (MB)', 'DISK (MB)'];
  const title = styles.style('cyan', `container ${id}`);
  return [`${title}: ${TITLES[change]}${amountText(required)}`, textTable(head, rows, styles)];
}

/** Exact, one line for each container and each task, with its sign in front. */
function rawText({ base, target }: ShownUpdate): string {
  const lines = containersOf(base, target).flatMap(({ id, change, required, tasks }) => [
    `${SIGNS[change]} container ${id} ${rawAmount(required)}`,
    ...tasks.map(({ change: of, instance }) => {
      const { task, component, componentIndex, resource } = instance;
      return `${SIGNS[of]} task ${task} ${component} ${componentIndex} ${rawAmount(resource)}`;
    }),
  ]);
  return [`  plan ${target.id}`, ...lines].join('\n');
}
