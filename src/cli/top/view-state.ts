import { COMPONENT_COLUMNS, TASK_COLUMNS, TOPOLOGY_COLUMNS } from './columns.ts';

/*
  What a person has chosen to see, and what keys do to it. Pure: the terminal hands in keys, the
  command acts on `isOver` and `topology`.
*/

export type TableName = 'topologies' | 'components' | 'tasks';

export interface TableView {
  readonly column: number;
  readonly isDescending: boolean;
  /** The row that is marked, in the order shown. */
  readonly selected: number;
}

export interface ViewState {
  /** The one that is looked into; undefined: all of the place. */
  readonly topology: string | undefined;
  /** False when the command was about one topology: there is nothing to go back to. */
  readonly canGoBack: boolean;
  readonly table: TableName;
  readonly tables: Readonly<Record<TableName, TableView>>;
  readonly isPaused: boolean;
  readonly isOver: boolean;
}

/** What is on the screen, as far as keys are about it. */
export interface Shown {
  /** The names of the rows of the table at hand, in the order shown. */
  readonly rows: readonly string[];
  /** How many rows of it fit. */
  readonly height: number;
}

export type Key =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'left'
  | 'right'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'interrupt'
  /** A letter or a digit. */
  | { readonly letter: string };

const COLUMNS: Readonly<Record<TableName, number>> = {
  topologies: TOPOLOGY_COLUMNS.length,
  components: COMPONENT_COLUMNS.length,
  tasks: TASK_COLUMNS.length,
};

const FIRST: TableView = { column: 0, isDescending: false, selected: 0 };

export function firstView(topology: string | undefined): ViewState {
  return {
    topology,
    canGoBack: topology === undefined,
    table: topology === undefined ? 'topologies' : 'tasks',
    tables: { topologies: FIRST, components: FIRST, tasks: FIRST },
    isPaused: false,
    isOver: false,
  };
}

export function afterKey(view: ViewState, key: Key, shown: Shown): ViewState {
  switch (key) {
    case 'up':
      return move(view, shown, -1);
    case 'down':
      return move(view, shown, 1);
    case 'page-up':
      return move(view, shown, -shown.height);
    case 'page-down':
      return move(view, shown, shown.height);
    case 'home':
      return move(view, shown, -shown.rows.length);
    case 'end':
      return move(view, shown, shown.rows.length);
    case 'left':
      return sortBy(view, view.tables[view.table].column - 1);
    case 'right':
      return sortBy(view, view.tables[view.table].column + 1);
    case 'enter':
      return open(view, shown);
    case 'escape':
      return back(view);
    case 'tab':
      return otherTable(view);
    case 'interrupt':
      return { ...view, isOver: true };
    default:
      return afterLetter(view, key.letter, shown);
  }
}

function afterLetter(view: ViewState, letter: string, shown: Shown): ViewState {
  switch (letter) {
    case 'q':
      return { ...view, isOver: true };
    case 'p':
    case ' ':
      return { ...view, isPaused: !view.isPaused };
    case 'j':
      return move(view, shown, 1);
    case 'k':
      return move(view, shown, -1);
    case '<':
      return sortBy(view, view.tables[view.table].column - 1);
    case '>':
      return sortBy(view, view.tables[view.table].column + 1);
    case 'r':
      return withTable(view, { isDescending: !view.tables[view.table].isDescending });
    default:
      return /^[1-9]$/.test(letter) ? sortBy(view, Number(letter) - 1) : view;
  }
}

/** Numbers begin with the largest, which is what is looked for; words with the first. */
function sortBy(view: ViewState, column: number): ViewState {
  if (column < 0 || column >= COLUMNS[view.table]) return view;
  const columns = {
    topologies: TOPOLOGY_COLUMNS,
    components: COMPONENT_COLUMNS,
    tasks: TASK_COLUMNS,
  };
  const isDescending = columns[view.table][column]?.isNumber ?? false;
  return withTable(view, { column, isDescending, selected: 0 });
}

function move(view: ViewState, { rows }: Shown, by: number): ViewState {
  const last = Math.max(0, rows.length - 1);
  // Rows may have gone since it was marked.
  const from = Math.min(view.tables[view.table].selected, last);
  return withTable(view, { selected: Math.min(last, Math.max(0, from + by)) });
}

function open(view: ViewState, { rows }: Shown): ViewState {
  const topology = rows[view.tables.topologies.selected];
  if (view.topology !== undefined || topology === undefined) return view;
  return { ...view, topology, table: 'tasks', tables: { ...view.tables, tasks: FIRST } };
}

function back(view: ViewState): ViewState {
  if (!view.canGoBack || view.topology === undefined) return view;
  return { ...view, topology: undefined, table: 'topologies' };
}

function otherTable(view: ViewState): ViewState {
  if (view.topology === undefined) return view;
  return { ...view, table: view.table === 'tasks' ? 'components' : 'tasks' };
}

function withTable(view: ViewState, change: Partial<TableView>): ViewState {
  const changed = { ...view.tables[view.table], ...change };
  return { ...view, tables: { ...view.tables, [view.table]: changed } };
}
