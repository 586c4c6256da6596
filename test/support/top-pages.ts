import {
  type ComponentRow,
  type Flow,
  NO_FLOW,
  type Overview,
  type TaskRow,
  type TopologyPage,
  type TopologyRow,
} from '../../src/cli/top/top-model.ts';

/* Pages of `heron top` with defaults for what a test does not speak of. */

export const AT_MS = Date.parse('2026-01-31T10:00:00Z');

export const BUSY: Flow = {
  emitted: 12_345,
  executed: 987,
  acked: 12,
  failed: 0,
  completeMs: 12.34,
  executeMs: 0.5,
  processMs: 150,
  capacity: 0.49,
  backPressure: 0.9,
};

export function aTopologyRow(row: Partial<TopologyRow> = {}): TopologyRow {
  return {
    name: 'words',
    cluster: 'local',
    role: 'me',
    environ: 'dev',
    state: 'RUNNING',
    sinceMs: AT_MS - 3_661_000,
    containersUp: 2,
    containersWanted: 2,
    restarts: 0,
    unknownBecause: undefined,
    ...BUSY,
    ...row,
  };
}

export function aTask(task: Partial<TaskRow> = {}): TaskRow {
  const number = task.task ?? 3;
  return {
    instance: `container_1_count_${number}`,
    component: 'count',
    task: number,
    container: 1,
    host: '127.0.0.1',
    state: 'running',
    restarts: 0,
    ...BUSY,
    ...task,
  };
}

/** One of which nobody has told. */
export function aLostTask(task: Partial<TaskRow> = {}): TaskRow {
  return aTask({ host: undefined, state: 'unknown', ...NO_FLOW, ...task });
}

export function anOverview(topologies: readonly TopologyRow[]): Overview {
  return { kind: 'overview', place: 'local/me/dev', atMs: AT_MS, topologies };
}

export function aTopologyPage(tasks: readonly TaskRow[], row?: Partial<TopologyRow>): TopologyPage {
  const component: ComponentRow = {
    type: 'bolt',
    component: 'count',
    tasksUp: tasks.filter(({ state }) => state === 'running').length,
    tasks: tasks.length,
    ...BUSY,
  };
  const topology = { row: aTopologyRow(row), components: [component], tasks };
  return { kind: 'topology', place: 'local', atMs: AT_MS, topology };
}
