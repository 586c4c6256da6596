import {
  type Cell,
  type Column,
  COMPONENT_COLUMNS,
  durationText,
  sortedBy,
  TASK_COLUMNS,
  timeText,
  type Tone,
  TOPOLOGY_COLUMNS,
} from './columns.ts';
import type { TopologyDetail, TopologyRow, TopPage } from './top-model.ts';
import type { Shown, TableName, TableView, ViewState } from './view-state.ts';

/*
  The picture of `heron top` as lines. Pure: the same page, view and size give the same lines.

  N1. No line is wider than the screen and there are no more than fit; without a size, as for a
      file, everything is there.
  N2. What others have written (names, reasons) cannot move the cursor: it holds no control
      characters any more.
*/

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Colour and weight for words; the words themselves where there is no colour. */
export type Paint = (tone: Tone | 'head' | 'sorted' | 'marked' | 'title', text: string) => string;

export interface RenderOptions {
  /** Undefined: no limit, no marks and no help. */
  readonly size: ScreenSize | undefined;
  readonly paint: Paint;
  /** Why the page is not newer; undefined when it is as new as can be. */
  readonly problem?: string | undefined;
  readonly intervalMs?: number;
}

export interface Picture {
  readonly lines: readonly string[];
  /** What keys are about. */
  readonly shown: Shown;
}

const NOTHING: Shown = { rows: [], height: 0 };
/** Of a topology's page: the more important table is that of the tasks. */
const COMPONENTS_SHARE = 0.4;

export function render(page: TopPage, view: ViewState, options: RenderOptions): Picture {
  const canvas = new Canvas(options);
  if (options.problem !== undefined) canvas.line([['bad', options.problem]]);
  const shown =
    page.kind === 'overview'
      ? drawOverview(canvas, page, view)
      : drawTopology(canvas, page.topology, page.atMs, view);
  if (options.size !== undefined) canvas.foot(helpOf(view));
  return { lines: canvas.lines, shown };
}

/** For a topology that has gone while it was looked at, or before the first page. */
export function renderNote(note: string, view: ViewState, options: RenderOptions): Picture {
  const canvas = new Canvas(options);
  canvas.line([['plain', note]]);
  if (options.size !== undefined) canvas.foot(helpOf(view));
  return { lines: canvas.lines, shown: NOTHING };
}

function drawOverview(
  canvas: Canvas,
  { place, atMs, topologies }: Extract<TopPage, { readonly kind: 'overview' }>,
  view: ViewState,
): Shown {
  const count = topologies.length === 1 ? '1 topology' : `${topologies.length} topologies`;
  canvas.line([['title', place], ['plain', `${count} at ${timeText(atMs)}`], ...pausedText(view)]);
  canvas.line([]);
  const table = { name: 'topologies', rows: topologies, columns: TOPOLOGY_COLUMNS } as const;
  const shown = canvas.table({ ...table, nowMs: atMs, view, nameOf: ({ name }) => name });
  const unknown = topologies.filter((row) => row.unknownBecause !== undefined);
  for (const { name, unknownBecause } of unknown) {
    canvas.line([['dim', `${name}: no figures: ${unknownBecause ?? ''}`]]);
  }
  return shown;
}

function drawTopology(
  canvas: Canvas,
  { row, components, tasks }: TopologyDetail,
  nowMs: number,
  view: ViewState,
): Shown {
  canvas.line([
    ['title', row.name],
    ...stateOf(row, nowMs),
    ['plain', `containers ${row.containersUp}/${row.containersWanted}`],
    ['plain', `restarts ${row.restarts}`],
    ['plain', `at ${timeText(nowMs)}`],
    ...pausedText(view),
  ]);
  if (row.unknownBecause !== undefined) {
    canvas.line([['bad', `no figures: ${row.unknownBecause}`]]);
  }
  canvas.line([]);
  const of = { nowMs, view };
  const first = canvas.table({
    ...of,
    name: 'components',
    rows: components,
    columns: COMPONENT_COLUMNS,
    nameOf: ({ component }) => component,
    share: COMPONENTS_SHARE,
  });
  canvas.line([]);
  const second = canvas.table({
    ...of,
    name: 'tasks',
    rows: tasks,
    columns: TASK_COLUMNS,
    nameOf: ({ instance }) => instance,
  });
  return view.table === 'components' ? first : second;
}

function stateOf({ state, sinceMs }: TopologyRow, nowMs: number): readonly Word[] {
  const tone: Tone = state === 'RUNNING' || state === 'COMPLETED' ? 'good' : 'bad';
  const age = sinceMs === undefined ? [] : ([['plain', durationText(nowMs - sinceMs)]] as const);
  return [[tone, state], ...age];
}

function pausedText({ isPaused }: ViewState): readonly Word[] {
  return isPaused ? [['warn', 'paused']] : [];
}

function helpOf({ topology, canGoBack }: ViewState): string {
  const where =
    topology === undefined ? 'enter look into' : `tab other table${canGoBack ? '  esc back' : ''}`;
  return `q quit  p pause  ↑↓ move  ←→ sort by  r reverse  ${where}`;
}

type Word = readonly [Parameters<Paint>[0], string];

interface DrawnTable<Row> {
  readonly name: TableName;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly nameOf: (row: Row) => string;
  readonly nowMs: number;
  readonly view: ViewState;
  /** Of the lines that are left; all of them unless given. */
  readonly share?: number;
}

/** Lines that fit (N1). */
class Canvas {
  readonly lines: string[] = [];
  readonly #size: ScreenSize | undefined;
  readonly #paint: Paint;

  constructor({ size, paint }: RenderOptions) {
    this.#size = size;
    this.#paint = paint;
  }

  line(words: readonly Word[]): void {
    if (this.#rowsLeft() <= 0) return;
    this.lines.push(this.#fitted(words, '  '));
  }

  /** On the last line of the screen. */
  foot(text: string): void {
    const { rows } = this.#size ?? { rows: 0 };
    while (this.lines.length < rows - 1) this.lines.push('');
    if (rows > 0) this.lines[rows - 1] = this.#fitted([['dim', text]], '');
  }

  table<Row>({ name, columns, rows: all, nameOf, nowMs, view, share = 1 }: DrawnTable<Row>): Shown {
    const table = view.tables[name];
    const isChosen = view.table === name && this.#size !== undefined;
    const sortColumn = columns[table.column] ?? columns[0];
    const rows = sortColumn === undefined ? all : sortedBy(all, sortColumn, table.isDescending);
    // Its head takes one line.
    const height = Math.max(0, Math.floor(this.#rowsLeft() * share) - 1);
    const [from, selected] = windowOf(rows.length, height, table);
    const visible = rows.slice(from, from + height);
    const cells = visible.map((row) => columns.map((column) => clean(column.cell(row, nowMs))));
    const widths = columns.map(({ title }, at) =>
      Math.max(title.length + 1, ...cells.map((row) => row[at]?.text.length ?? 0)),
    );
    this.#head(columns, widths, isChosen ? table : undefined);
    for (const [index, row] of cells.entries()) {
      const isMarked = isChosen && from + index === selected;
      const words = row.map(({ text, tone }, at): Word => {
        const shown = padded(text, widths[at] ?? 0, columns[at]?.isNumber ?? false);
        return [isMarked ? 'marked' : tone, shown];
      });
      this.line(words);
    }
    return { rows: rows.map(nameOf), height };
  }

  #head<Row>(
    columns: readonly Column<Row>[],
    widths: readonly number[],
    table: TableView | undefined,
  ): void {
    const words = columns.map(({ title, isNumber }, at): Word => {
      const isSorted = table?.column === at;
      const arrow = table?.isDescending === true ? '▼' : '▲';
      const text = isSorted ? `${title}${arrow}` : title;
      return [isSorted ? 'sorted' : 'head', padded(text, widths[at] ?? 0, isNumber)];
    });
    this.line(words);
  }

  #rowsLeft(): number {
    // The last line is the foot's.
    return this.#size === undefined
      ? Number.MAX_SAFE_INTEGER
      : this.#size.rows - 1 - this.lines.length;
  }

  #fitted(words: readonly Word[], gap: string): string {
    const columns = this.#size?.columns ?? Number.MAX_SAFE_INTEGER;
    let [line, width] = ['', 0];
    for (const [index, [tone, raw]] of words.entries()) {
      const text = withoutControls(raw);
      const before = index === 0 ? '' : gap;
      const room = columns - width - before.length;
      if (room <= 0) break;
      const cut = text.length <= room ? text : Array.from(text).slice(0, room).join('');
      const isLast = index === words.length - 1;
      const shown = isLast && this.#size === undefined ? cut.trimEnd() : cut;
      line += `${before}${shown === '' ? '' : this.#paint(tone, shown)}`;
      width += before.length + Array.from(cut).length;
    }
    return line;
  }
}

/** The first row that is shown, and the marked one, which is always shown. */
function windowOf(
  count: number,
  height: number,
  { selected }: TableView,
): readonly [number, number] {
  const marked = Math.min(selected, Math.max(0, count - 1));
  return [Math.max(0, Math.min(marked - height + 1, count - height)), marked];
}

function clean({ text, tone }: Cell): Cell {
  return { text: withoutControls(text), tone };
}

/** N2 */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

function padded(text: string, width: number, isNumber: boolean): string {
  return isNumber ? text.padStart(width) : text.padEnd(width);
}
