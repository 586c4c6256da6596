import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Paint, render, type RenderOptions } from '../../../../src/cli/top/render.ts';
import { NO_FLOW, type TopPage } from '../../../../src/cli/top/top-model.ts';
import {
  afterKey,
  firstView,
  type Key,
  type ViewState,
} from '../../../../src/cli/top/view-state.ts';
import {
  aLostTask,
  anOverview,
  aTask,
  aTopologyPage,
  aTopologyRow,
} from '../../../support/top-pages.ts';

/* Pictures of `heron top`; the widths of columns are left out where they do not matter. */

const PLAIN: Paint = (_tone, text) => text;
const FILE: RenderOptions = { size: undefined, paint: PLAIN };

function onScreen(columns: number, rows: number): RenderOptions {
  return { size: { columns, rows }, paint: PLAIN };
}

function lines(page: TopPage, view: ViewState, options: RenderOptions): readonly string[] {
  return render(page, view, options).lines.map((line) => line.replaceAll(/ +/g, ' ').trimEnd());
}

function press(page: TopPage, view: ViewState, ...keys: readonly Key[]): ViewState {
  return keys.reduce(
    (now, key) => afterKey(now, key, render(page, now, onScreen(300, 40)).shown),
    view,
  );
}

const FLOW_HEAD = 'EMIT/S EXEC/S ACK/S FAIL/S COMPLETE EXECUTE PROCESS CAPACITY HELD';
const FLOW = '12.3k 987 12.0 0 12.3ms 0.500ms 150ms 49% 90%';
const NOTHING = '- - - - - - - - -';

test('a place: one line for each topology, and why nothing is known of one', () => {
  const dead = aTopologyRow({
    name: 'dead',
    state: 'DEGRADED',
    containersUp: 1,
    restarts: 3,
    ...NO_FLOW,
    unknownBecause: 'it has no topology master',
  });
  const page = anOverview([aTopologyRow(), dead]);
  assert.deepEqual(lines(page, firstView(undefined), FILE), [
    'local/me/dev 2 topologies at 10:00:00',
    '',
    `TOPOLOGY STATE AGE CONTAINERS RESTARTS ${FLOW_HEAD}`,
    `dead DEGRADED 1h1m 1/2 3 ${NOTHING}`,
    `words RUNNING 1h1m 2/2 0 ${FLOW}`,
    'dead: no figures: it has no topology master',
  ]);
});

test('a topology: its components and its tasks; what is not known is no zero', () => {
  const page = aTopologyPage([aTask(), aLostTask({ task: 4 })]);
  assert.deepEqual(lines(page, firstView('words'), FILE), [
    'words RUNNING 1h1m containers 2/2 restarts 0 at 10:00:00',
    '',
    `COMPONENT TYPE TASKS ${FLOW_HEAD}`,
    `count bolt 1/2 ${FLOW}`,
    '',
    `TASK STATE CONTAINER HOST RESTARTS ${FLOW_HEAD}`,
    `container_1_count_3 running 1 127.0.0.1 0 ${FLOW}`,
    `container_1_count_4 unknown 1 - 0 ${NOTHING}`,
  ]);
});

test('a place without topologies has a picture too', () => {
  const shown = lines(anOverview([]), firstView(undefined), onScreen(300, 5));
  assert.equal(shown[0], 'local/me/dev 0 topologies at 10:00:00');
});

test('what is wrong is seen by its colour', () => {
  const paint: Paint = (tone, text) => `${tone}:${text.trim()}`;
  const row = aTopologyRow({ failed: 3, containersUp: 1, state: 'DEGRADED', restarts: 1 });
  const [, , , line = ''] = render(anOverview([row]), firstView(undefined), {
    size: undefined,
    paint,
  }).lines;
  for (const part of ['bad:DEGRADED', 'bad:1/2', 'warn:1', 'bad:3.0', 'plain:49%', 'bad:90%']) {
    assert.ok(line.includes(part), `${part} in ${line}`);
  }
});

describe('sorting', () => {
  const page = aTopologyPage([
    aTask({ task: 1, executed: 5 }),
    aLostTask({ task: 2 }),
    aTask({ task: 3, executed: 50 }),
    aTask({ task: 4, executed: 7 }),
  ]);
  const order = (view: ViewState): readonly string[] =>
    render(page, view, onScreen(300, 40)).shown.rows.map((name) => name.slice(-1));

  test('by any column: numbers from the largest, and what is not known last', () => {
    let view = firstView('words');
    assert.deepEqual(order(view), ['1', '2', '3', '4']);
    view = press(page, view, { letter: '7' });
    assert.deepEqual(order(view), ['3', '4', '1', '2']);
    view = press(page, view, { letter: 'r' });
    assert.deepEqual(order(view), ['1', '4', '3', '2']);
    assert.match(render(page, view, onScreen(300, 40)).lines.join('\n'), /EXEC\/S▲/);
  });

  test('from column to column by arrows, and not beyond the first', () => {
    const view = press(page, firstView('words'), 'right', 'right', 'left', 'left', 'left');
    assert.equal(view.tables.tasks.column, 0);
    assert.equal(press(page, view, 'right').tables.tasks.column, 1);
  });
});

describe('a screen', () => {
  const tasks = Array.from({ length: 100 }, (_, task) => aTask({ task: 100 + task }));
  const page = aTopologyPage(tasks);

  test('is never left by a line', () => {
    for (const columns of [1, 10, 79, 80, 120]) {
      for (const rows of [1, 2, 5, 24]) {
        const { lines: drawn } = render(page, firstView('words'), onScreen(columns, rows));
        assert.equal(drawn.length, rows);
        assert.ok(
          drawn.every((line) => line.length <= columns),
          `${columns} x ${rows}`,
        );
      }
    }
  });

  test('shows the marked row, however far down it is', () => {
    const painted = { size: { columns: 100, rows: 20 }, paint: marking };
    const marked = (view: ViewState): string | undefined =>
      render(page, view, painted).lines.find((line) => line.includes('>'));
    const view = firstView('words');
    assert.match(marked(view) ?? '', /count_100/);
    assert.match(marked(press(page, view, 'down', 'down', 'up')) ?? '', /count_101/);
    assert.match(marked(press(page, view, 'end')) ?? '', /count_199/);
    assert.match(marked(press(page, view, 'end', 'up')) ?? '', /count_198/);
    assert.match(marked(press(page, view, 'end', 'home')) ?? '', /count_100/);
  });

  test('cannot be written on by a name', () => {
    const evil = aTopologyRow({ name: 'a\u001B[2J\u009B1mb', unknownBecause: 'x\ny' });
    const text = render(anOverview([evil]), firstView(undefined), onScreen(300, 10)).lines.join('');
    assert.ok(text.includes('a?[2J?1mb') && text.includes('x?y'));
  });

  test('says why it is not newer', () => {
    const options = { ...onScreen(100, 10), problem: 'the store is away' };
    assert.equal(render(page, firstView('words'), options).lines[0], 'the store is away');
  });
});

function marking(tone: string, text: string): string {
  return tone === 'marked' ? `>${text}` : text;
}

describe('keys', () => {
  const page = anOverview([aTopologyRow(), aTopologyRow({ name: 'zebra' })]);
  const view = firstView(undefined);

  test('enter looks into the marked topology, escape goes back', () => {
    const inside = press(page, view, 'down', 'enter');
    assert.deepEqual([inside.topology, inside.table], ['zebra', 'tasks']);
    assert.equal(press(page, inside, 'escape').topology, undefined);
    const only = firstView('words');
    assert.equal(press(page, only, 'escape').topology, 'words', 'it was asked for one');
  });

  test('q and Ctrl-C quit, p pauses and goes on, tab changes the table', () => {
    assert.ok(press(page, view, { letter: 'q' }).isOver);
    assert.ok(press(page, view, 'interrupt').isOver);
    const paused = press(page, view, { letter: 'p' });
    assert.ok(paused.isPaused);
    assert.match(render(page, paused, onScreen(100, 10)).lines[0] ?? '', /paused/);
    assert.ok(!press(page, paused, { letter: ' ' }).isPaused);
    assert.equal(press(page, firstView('words'), 'tab').table, 'components');
  });

  test('a row that has gone is not marked any more', () => {
    const low = press(page, view, 'end');
    const fewer = anOverview([aTopologyRow()]);
    assert.equal(press(fewer, low, 'up').tables.topologies.selected, 0);
    assert.equal(press(fewer, low, 'enter').topology, undefined);
  });

  test('what is no key changes nothing', () => {
    assert.deepEqual(press(page, view, { letter: 'x' }, { letter: '0' }), view);
  });
});
