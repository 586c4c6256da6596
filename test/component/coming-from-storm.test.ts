import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { AnySpout } from '../../src/api/component-runtime.ts';
import type { TopologyDefinition } from '../../src/api/index.ts';
import { packageRoot } from '../../src/base/entry.ts';
import { linkEngine } from '../../src/package/link-engine.ts';
import { testSpout, testTopology } from '../../src/testing/index.ts';
import { compileModules } from '../support/compile-modules.ts';
import { inlineCodeOf, type TableRow, tableRowsOf } from '../support/markdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
  The right-hand columns of docs/coming-from-storm.md are made into one module, in which each piece
  of code stands where its section says: in a build function, in a method of a spout, of a bolt. The
  module compiles, and when it has run every row of the page has been run.
*/

const PAGE = join(packageRoot(), 'docs', 'coming-from-storm.md');
/** More than there are rows about bolts and tuples, each of which is run on a tuple of its own. */
const FILLING_TUPLES = 40;
const TICK_MS = 1000;

/** What the generated module exports. */
interface RowsModule {
  /** Lines of the page whose code was run. */
  readonly ran: ReadonlySet<number>;
  readonly control: { isOver: boolean };
  readonly buildAll: () => void;
  readonly statements: TopologyDefinition;
  readonly methods: TopologyDefinition;
  readonly makeSpout: () => AnySpout;
}

const rows = tableRowsOf(readFileSync(PAGE, 'utf8')).filter((row) => codeOf(row).length > 0);

/** Commands are code too, but not TypeScript. */
function codeOf({ cells }: TableRow): readonly string[] {
  return inlineCodeOf(cells[1] ?? '').filter(
    (code) => /\W/.test(code) && !code.startsWith('heron '),
  );
}

function rowsOf(section: string): readonly TableRow[] {
  const found = rows.filter((row) => row.section === section);
  assert.ok(found.length > 0, `the page has no section '${section}'`);
  return found;
}

/** Runs a row's code and notes that it did. */
function statementsOf(row: TableRow): string {
  return `${codeOf(row).join('; ')}; ran.add(${row.line});`;
}

function buildsOf(sectionRows: readonly TableRow[]): string {
  return sectionRows
    .map((row) => {
      const bolt = "const bolt = builder.setBolt('bolt', () => new Reader());";
      const split =
        "const split = builder.setBolt('split', () => new Split()).shuffleGrouping(lines);";
      const code = statementsOf(row);
      return `topology('row', (builder) => {
        const lines = builder.setSpout('lines', () => new Lines());
        ${code.includes('split') ? split : ''}
        ${code.includes('bolt.') ? bolt : ''}
        ${code}
      }).build();`;
    })
    .join('\n');
}

function casesOf(...sections: readonly string[]): string {
  return sections
    .flatMap((section) => rowsOf(section))
    .map((row, index) => `case ${index}: { ${statementsOf(row)} break; }`)
    .join('\n');
}

/** A method for each row, with as many parameters as the class's own has. */
function methodsOf(section: string, base: 'Spout' | 'Bolt'): string {
  const overrides = rowsOf(section).map((row) => {
    const [, name, parameters = ''] = /^(\w+)\((.*)\)$/.exec(codeOf(row)[0] ?? '') ?? [];
    assert.ok(name !== undefined, `line ${row.line} shows no method`);
    const count = parameters === '' ? 0 : parameters.split(', ').length;
    const own = `Parameters<Required<${base}>['${name}']>`;
    return `override ${name}(...given: ${own}): void {
      const count: ${own}['length'] = ${count};
      ran.add(${row.line});
      this.called('${name}', given, count);
    }`;
  });
  return overrides.join('\n');
}

function moduleText(): string {
  const spoutRows = rowsOf('In a spout');
  const { builder: builderRows = [], context: contextRows = [] } = Object.groupBy(
    rowsOf('Metrics and hooks'),
    (row) => (codeOf(row)[0]?.startsWith('builder.') === true ? 'builder' : 'context'),
  );
  const lastCall = spoutRows.length + FILLING_TUPLES;
  const ends = spoutRows.findIndex((row) => codeOf(row)[0]?.includes('endOfInput'));
  return `
import {
  AssignableMetric, BasicBolt, Bolt, CountMetric, CumulativeCountMetric, type CustomGrouping,
  fields, fromAsyncIterable, isTick, LatencyStatMetric, MeanMetric, MultiCountMetric,
  MultiMeanMetric, Spout, type TaskHook, topology, type TopologyBuilder, type TopologyContext,
  type Tuple, type ValueSerializer,
} from 'heron-ts';

export const ran = new Set<number>();
export const control = { isOver: false };

const word = fields<{ word: string }>()('word');

class Lines extends Spout.of({ default: word }) {
  override nextTuple(): void { this.endOfInput(); }
}
const Words = Lines;
class Split extends BasicBolt.of({
  default: word, rejected: word,
  pairs: fields<{ a: string; b: string; word: string }>()('a', 'b', 'word'),
}) {
  override execute(_tuple: Tuple<{ word: string }>): void {}
}
class Reader extends BasicBolt.of({}) {
  override execute(_tuple: Tuple<{ word: string }>): void {}
}
const Count = Reader;
class ByLength implements CustomGrouping<readonly [word: string]> {
  prepare(): void {}
  chooseTasks(): readonly number[] { return []; }
}
const items: Iterable<string> = ['cow'];
const serializer: ValueSerializer = {
  serialize: (value) => new TextEncoder().encode(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
};
class Watch implements TaskHook {
  cleanup(): void {}
}
function define(builder: TopologyBuilder): void {
  builder.setSpout('lines', () => new Lines());
}

export function buildAll(): void {
  ${buildsOf(rowsOf('Building a topology'))}
  ${buildsOf(rowsOf('Settings'))}
  ${buildsOf(builderRows)}
}

class StatementsSpout extends Spout.of({ default: word, late: word, jobs: word }) {
  #task = 0;
  #n = 0;
  override open(context: TopologyContext): void {
    this.#task = context.componentTasks('direct')[0] ?? 0;
  }
  override nextTuple(): void {
    const word = 'cow', messageId = this.#n, task = this.#task, error = new Error('reported');
    switch (this.#n === ${ends} ? -1 : this.#n === ${lastCall} ? ${ends} : this.#n) {
      ${casesOf('In a spout')}
      default: this.emit({ word });
    }
    this.#n += 1;
  }
}
class StatementsBolt extends Bolt.of({ default: word, late: word, jobs: word }) {
  #context: TopologyContext | undefined;
  #first: Tuple<{ word: string }> | undefined;
  #n = 0;
  override prepare(context: TopologyContext): void {
    this.#context = context;
    const cache = new Map(), flush = () => {}, task = context.taskId;
    const hook: TaskHook = {};
    ${[...rowsOf('The context'), ...contextRows].map(statementsOf).join('\n')}
  }
  override execute(tuple: Tuple<{ word: string }>): void {
    const word = 'cow', error = new Error('reported');
    const task = this.#context?.componentTasks('direct')[0] ?? 0;
    const first = (this.#first ??= tuple);
    switch (this.#n) {
      ${casesOf('In a bolt', 'Tuples')}
      default:
    }
    this.#n += 1;
  }
}
export const statements = topology('statements', (builder) => {
  const spout = builder.setSpout('spout', () => new StatementsSpout());
  const bolt = builder.setBolt('bolt', () => new StatementsBolt()).shuffleGrouping(spout);
  const direct = builder.setBolt('direct', () => new Reader());
  direct.directGrouping(spout, 'jobs').directGrouping(bolt, 'jobs');
});

class MethodsSpout extends Spout.of({ default: ['word'] }) {
  ${methodsOf('Methods of a spout', 'Spout')}
  called(method: string, _given: readonly unknown[], _count: number): void {
    if (method !== 'nextTuple') return;
    if (control.isOver) this.endOfInput();
    else this.emit({ word: 'cow' }, 1);
  }
}
export const makeSpout = () => new MethodsSpout();
class MethodsBolt extends Bolt.of({}) {
  ${methodsOf('Methods of a bolt', 'Bolt')}
  called(_method: string, _given: readonly unknown[], _count: number): void {}
}
export const methods = topology('methods', (builder) => {
  const config = { 'topology.tick.tuple.freq.ms': ${TICK_MS} };
  const spout = builder.setSpout('spout', () => new MethodsSpout());
  builder.setBolt('bolt', () => new MethodsBolt(), { config }).shuffleGrouping(spout);
});
`;
}

test('every row about what one knows from Storm compiles', () => {
  const path = join(packageRoot(), 'docs', 'coming-from-storm', 'rows.ts');
  assert.deepEqual(compileModules(new Map([[path, moduleText()]])), []);
});

test('every row about what one knows from Storm runs', async () => {
  await using folder = await temporaryFolder();
  await linkEngine(folder.path);
  const file = join(folder.path, 'rows.ts');
  await writeFile(file, moduleText());
  const { buildAll, control, makeSpout, methods, ran, statements } = (await import(
    pathToFileURL(file).href
  )) as RowsModule;
  buildAll();

  await using first = await testTopology(statements);
  await first.toCompletion();

  await using second = await testTopology(methods);
  await second.advance(2 * TICK_MS);
  await second.deactivate();
  await second.activate();
  control.isOver = true;
  await second.toCompletion();

  control.isOver = false;
  await using spout = await testSpout(makeSpout);
  await spout.nextTuple(1);
  await spout.fail(1, { error: 'lost' });

  const left = rows.filter(({ line }) => !ran.has(line));
  assert.deepEqual(left, []);
});
