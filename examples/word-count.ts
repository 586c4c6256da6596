/*
  Word count over real text. Files are read line by line, lines are split into words, words are
  counted by the task that owns them, and when the input has ended the counts meet in one task,
  which writes them to a file.

      heron run local/$USER/dev examples/word-count.ts words $PWD/counts.json $PWD/docs

  Arguments: the file for the result, then files and folders to read.
*/

import { open, rename, writeFile } from 'node:fs/promises';
import {
  BasicBolt,
  CountMetric,
  fields,
  Spout,
  topology,
  type TopologyContext,
  type Tuple,
} from 'heron-ts';
import { textFilesBelow } from './text-files.ts';

/** Reads its share of the files, one line a tuple. */
class Lines extends Spout.of({ default: fields<{ line: string }>()('line') }) {
  readonly #places: readonly string[];
  readonly #filesDone = new CountMetric();
  #files: string[] = [];
  #lines: string[] = [];

  constructor(places: readonly string[]) {
    super();
    this.#places = places;
  }

  override async open(context: TopologyContext): Promise<void> {
    context.registerMetric('files-done', this.#filesDone);
    const files = await textFilesBelow(this.#places);
    const { parallelism, taskIndex } = context;
    this.#files = files.filter((_, n) => n % parallelism === taskIndex).toReversed();
  }

  override nextTuple(): void | Promise<void> {
    const line = this.#lines.pop();
    if (line !== undefined) this.emit({ line });
    else return this.#nextFile();
  }

  async #nextFile(): Promise<void> {
    const file = this.#files.pop();
    if (file === undefined) {
      this.endOfInput();
      return;
    }
    await using handle = await open(file);
    this.#lines = (await handle.readFile('utf8')).split('\n').toReversed();
    this.#filesDone.incr();
  }
}

/** A word is a run of letters; capitals do not count. */
class Split extends BasicBolt.of({ default: fields<{ word: string }>()('word') }) {
  override execute(tuple: Tuple<{ line: string }>): void {
    for (const [word] of tuple
      .get('line')
      .toLowerCase()
      .matchAll(/\p{Letter}+/gu)) {
      this.emit({ word });
    }
  }
}

/** Fields grouping brings all occurrences of a word to the same task. */
class Count extends BasicBolt.of({
  default: fields<{ word: string; count: number }>()('word', 'count'),
}) {
  readonly #counts = new Map<string, number>();

  override execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  override finish(): void {
    for (const [word, count] of this.#counts) this.emit({ word, count });
  }
}

/** Writes the counts, the most frequent word first, when all of them are here. */
class Report extends BasicBolt.of({}) {
  readonly #file: string;
  readonly #counts: [word: string, count: number][] = [];

  constructor(file: string) {
    super();
    this.#file = file;
  }

  override execute(tuple: Tuple<{ word: string; count: number }>): void {
    this.#counts.push([tuple.get('word'), tuple.get('count')]);
  }

  override async finish(): Promise<void> {
    const sorted = this.#counts.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const unfinished = `${this.#file}.unfinished`;
    await writeFile(unfinished, JSON.stringify(Object.fromEntries(sorted), undefined, 1));
    await rename(unfinished, this.#file);
  }
}

export default topology('word-count', (builder, [result = 'word-count.json', ...places]) => {
  builder.setConfig({ 'topology.stmgrs': 2 });
  const lines = builder.setSpout('lines', () => new Lines(places), { parallelism: 2 });
  const words = builder
    .setBolt('split', () => new Split(), { parallelism: 2 })
    .shuffleGrouping(lines);
  const counts = builder
    .setBolt('count', () => new Count(), { parallelism: 2 })
    .fieldsGrouping(words, 'word');
  builder.setBolt('report', () => new Report(result)).globalGrouping(counts);
});
