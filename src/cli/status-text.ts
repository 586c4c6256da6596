import type { Completion } from '../model/completion.ts';
import type { ProcessExit, ProcessState } from '../model/container-report.ts';
import { lettersText } from './dead-letters/letter-files.ts';
import { incidentLines } from './incident-lines.ts';
import type { Output } from './output.ts';
import { placeText } from './place.ts';
import { textTable } from './text-table.ts';
import type { ComponentDelivery, TopologyDelivery } from './topology-delivery.ts';
import type { TopologyErrors } from './topology-errors.ts';
import type { ShownState } from '../model/topology-state.ts';
import { changesText } from '../model/plan-sizes.ts';
import { progressText, type UpdateProgress } from '../model/update-progress.ts';

/** What `status --json` prints. */
export interface ShownStatus {
  readonly name: string;
  readonly id: string | null;
  readonly state: ShownState;
  readonly cluster: string;
  readonly role: string | null;
  readonly environ: string | null;
  readonly since: string | null;
  readonly submittedBy: string | null;
  readonly engineVersion: string | null;
  readonly schedulerPid: number | null;
  readonly containers: readonly {
    readonly id: number;
    readonly host: string;
    readonly pid: number;
    readonly processes: readonly ShownProcess[];
  }[];
  /** Null when none is under way. */
  readonly update: ShownUpdate | null;
  readonly errors: TopologyErrors;
  /** Null while no topology master answers. */
  readonly delivery: TopologyDelivery | null;
  /** Those that are there to be looked at. */
  readonly deadLetters: number;
  readonly completion: Completion | null;
  readonly damage: readonly string[];
  readonly logs: string;
}

/** Numbers of tasks, and of containers where the component is null. */
export interface ShownUpdate extends Omit<UpdateProgress, 'changes'> {
  readonly since: string | null;
  readonly changes: readonly {
    readonly component: string | null;
    readonly from: number;
    readonly to: number;
  }[];
}

export interface ShownProcess {
  readonly name: string;
  readonly pid: number | null;
  readonly state: ProcessState;
  readonly restarts: number;
  readonly startedAt: string | null;
  readonly lastExit: (ProcessExit & { readonly at: string | null }) | null;
}

const ADVICE: Readonly<Partial<Record<ShownState, string>>> = {
  HALF_DEAD: "an interrupted command left this; 'heron kill' or the same submit clears it away",
  DAMAGED: "'heron kill' removes it with all of its records",
};

/** The same for people. */
export function statusText(status: ShownStatus, output: Output): string {
  const { name, state, containers, completion, damage } = status;
  const advice = ADVICE[state];
  return [
    `${output.style('bold', name)} ${output.style(colourOf(state), state)}`,
    ...factLines(status),
    ...damage,
    ...(advice === undefined ? [] : [advice]),
    ...(completion === null ? [] : completionLines(completion)),
    ...updateLines(status),
    ...deadLetterLines(status),
    ...(containers.length === 0 ? [] : ['', processTable(status, output)]),
    ...(status.delivery === null ? [] : deliveryLines(status.delivery, output)),
    ...exitLines(status),
    ...errorLines(status),
  ].join('\n');
}

function factLines(status: ShownStatus): readonly string[] {
  const { id, since, cluster, role, environ, schedulerPid, state, logs } = status;
  const facts: readonly (readonly [string, string | number | null])[] = [
    ['place', role === null || environ === null ? null : placeText({ cluster, role, environ })],
    ['id', id],
    [state === 'COMPLETED' ? 'completed' : 'since', since],
    ['scheduler', schedulerPid === null ? null : `pid ${schedulerPid}`],
    ['logs', logs],
  ];
  return facts
    .filter(([, value]) => value !== null)
    .map(([title, value]) => `${title.padEnd('scheduler'.length)}  ${value}`);
}

function completionLines(completion: Completion): readonly string[] {
  const first =
    completion.result === 'completed'
      ? 'its input has ended and all of it was processed'
      : 'its input has ended, but tuples may be missing from its results, because of:';
  return [first, ...incidentLines(completion)];
}

function updateLines({ update }: ShownStatus): readonly string[] {
  if (update === null) return [];
  const changes = changesText(update.changes);
  const what = changes === '' ? 'being updated' : `being updated: ${changes}`;
  const since = update.since === null ? '' : ` since ${update.since}`;
  return [`${what}${since}; ${progressText(update)}`];
}

function deadLetterLines({ deadLetters, cluster, name }: ShownStatus): readonly string[] {
  if (deadLetters === 0) return [];
  return [`${lettersText(deadLetters)}: 'heron dead-letters list ${cluster} ${name}' shows them`];
}

function processTable({ containers }: ShownStatus, output: Output): string {
  const rows = containers.flatMap(({ id, host, pid, processes }) => [
    [`${id}`, host, 'executor', `${pid}`, 'running', ''],
    ...processes.map((process) => [
      '',
      '',
      process.name,
      `${process.pid ?? ''}`,
      output.style(process.state === 'running' ? 'green' : 'red', process.state),
      process.restarts === 0 ? '' : `${process.restarts}`,
    ]),
  ]);
  const head = ['CONTAINER', 'HOST', 'PROCESS', 'PID', 'STATE', 'RESTARTS'];
  return textTable(head, rows, output);
}

/** The tasks that spouts waited for longest. */
const HELD_FOR_SHOWN_MAX = 5;
const MS_PER_SECOND = 1000;

function deliveryLines(
  { components, backPressure }: TopologyDelivery,
  output: Output,
): readonly string[] {
  const head = ['COMPONENT', 'PENDING', 'ACKED', 'FAILED', 'BECAUSE', 'DEAD LETTERS'];
  const rows = components.map((component) => [
    component.component,
    `${component.pending ?? ''}`,
    `${component.acked}`,
    `${component.failed}`,
    reasonsText(component),
    `${component.deadLetters ?? ''}`,
  ]);
  const held = backPressure
    .slice(0, HELD_FOR_SHOWN_MAX)
    .map(({ component, task, ms }) => `${component}/${task} ${(ms / MS_PER_SECOND).toFixed(1)} s`);
  return [
    ...(rows.length === 0 ? [] : ['', textTable(head, rows, output)]),
    ...(held.length === 0
      ? []
      : ['', `back pressure since the start, by task: ${held.join(', ')}`]),
  ];
}

function reasonsText({ failedBecause }: ComponentDelivery): string {
  return Object.entries(failedBecause)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** Why processes last ended, in the words of the processes themselves. */
function exitLines({ containers }: ShownStatus): readonly string[] {
  return containers.flatMap(({ processes }) =>
    processes.flatMap(({ name, lastExit }) =>
      lastExit === null
        ? []
        : [
            '',
            `${name} last ended at ${lastExit.at ?? 'an unknown time'}: it ${lastExit.reason}`,
            ...lastExit.lastLines.map((line) => `    ${line}`),
          ],
    ),
  );
}

/** The newest of each kind; all of them are in --json. */
const ERRORS_SHOWN_MAX = 5;

function errorLines({ errors }: ShownStatus): readonly string[] {
  const shown = [...errors.blocked, ...errors.exceptions.slice(0, ERRORS_SHOWN_MAX)];
  return shown.flatMap(({ instance, count, lastAt, stack }) => {
    const times = count === 1 ? '' : `, ${count} times`;
    return [
      '',
      `${instance} at ${lastAt}${times}:`,
      ...stack.split('\n').map((line) => `    ${line}`),
    ];
  });
}

function colourOf(state: ShownState) {
  switch (state) {
    case 'RUNNING':
    case 'COMPLETED':
      return 'green';
    case 'STARTING':
    case 'PAUSED':
    case 'DRAINING':
      return 'yellow';
    case 'DEGRADED':
    case 'HALF_DEAD':
    case 'DAMAGED':
      return 'red';
  }
}
