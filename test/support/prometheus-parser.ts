/*
  Reads the text format of Prometheus, version 0.0.4, by its description and nothing else, and
  refuses whatever that does not allow:

    - lines end in a line feed, the last one, too; empty lines mean nothing
    - `# HELP name text` and `# TYPE name type`, each once a name and before its samples; other
      comments mean nothing
    - a sample is a name, labels in braces, a number, and perhaps a time in milliseconds
    - names match [a-zA-Z_:][a-zA-Z0-9_:]*, labels' [a-zA-Z_][a-zA-Z0-9_]*
    - in label values a backslash stands before a backslash, a quote, or n for a line feed
    - all lines of one name stand together, and no sample comes twice
    - a histogram has the samples <name>_bucket with `le`, _sum and _count; its buckets only grow,
      the last is le="+Inf" and equals _count
*/

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string | undefined;
  readonly samples: readonly ParsedSample[];
}

const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*/;
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]Inf)$/;
const PARTS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

interface OpenFamily {
  readonly name: string;
  type: string | undefined;
  help: string | undefined;
  readonly samples: ParsedSample[];
}

export function parsePrometheus(text: string): ReadonlyMap<string, ParsedFamily> {
  const parser = new Parser();
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  for (const line of text.split('\n').slice(0, -1)) parser.line(line);
  return parser.end();
}

class Parser {
  readonly #families = new Map<string, OpenFamily>();
  readonly #seen = new Set<string>();
  #current: OpenFamily | undefined;

  line(line: string): void {
    if (line.trim() === '') return;
    const comment = /^#\s*(HELP|TYPE)\s+(\S+)(?: (.*))?$/.exec(line);
    if (comment !== null) this.#comment(comment, line);
    else if (!line.startsWith('#')) this.#sample(line);
  }

  end(): ReadonlyMap<string, ParsedFamily> {
    const families = [...this.#families.values()].map((family) => {
      const type = family.type ?? 'untyped';
      if (type === 'histogram') checkHistogram(family);
      return [family.name, { ...family, type }] as const;
    });
    return new Map(families);
  }

  #comment([, what, name = '', text = '']: RegExpExecArray, line: string): void {
    if (NAME.exec(name)?.[0] !== name) throw new Error(`no name: ${line}`);
    const family = this.#enter(name);
    if (family.samples.length > 0) throw new Error(`after its samples: ${line}`);
    if (what === 'TYPE') {
      if (family.type !== undefined) throw new Error(`a second type: ${line}`);
      if (!TYPES.includes(text)) throw new Error(`no type: ${line}`);
      family.type = text;
    } else {
      if (family.help !== undefined) throw new Error(`a second help: ${line}`);
      family.help = unescape(text, /\\(.?)/g, { '\\': '\\', n: '\n' });
    }
  }

  #sample(line: string): void {
    const name = NAME.exec(line)?.[0];
    if (name === undefined) throw new Error(`no name: ${line}`);
    const { labels, rest } = labelsAt(line.slice(name.length), line);
    const [value = '', time, ...others] = rest.trim().split(/[ \t]+/);
    if (!NUMBER.test(value)) throw new Error(`no number: ${line}`);
    if (others.length > 0 || (time !== undefined && !/^-?\d+$/.test(time))) {
      throw new Error(`no time: ${line}`);
    }
    const key = JSON.stringify([
      name,
      Object.keys(labels)
        .toSorted()
        .map((label) => [label, labels[label]]),
    ]);
    if (this.#seen.has(key)) throw new Error(`comes twice: ${line}`);
    this.#seen.add(key);
    const number = Number(value.replace('Inf', 'Infinity'));
    this.#familyOf(name).samples.push({ name, labels, value: number });
  }

  /** The family of the lines before, when the sample is a part of it. */
  #familyOf(name: string): OpenFamily {
    const { name: current = '', type = '' } = this.#current ?? {};
    const isPart = PARTS[type]?.some((part) => `${current}${part}` === name) === true;
    if (PARTS[type] !== undefined && !isPart && name === current)
      throw new Error(`${name}: a part`);
    return this.#enter(isPart ? current : name);
  }

  #enter(name: string): OpenFamily {
    if (this.#current?.name === name) return this.#current;
    if (this.#families.has(name)) throw new Error(`the lines of ${name} do not stand together`);
    this.#current = { name, type: undefined, help: undefined, samples: [] };
    this.#families.set(name, this.#current);
    return this.#current;
  }
}

function labelsAt(text: string, line: string) {
  const labels: Record<string, string> = {};
  if (!text.startsWith('{')) {
    if (!/^[ \t]/.test(text)) throw new Error(`no space before the number: ${line}`);
    return { labels, rest: text };
  }
  let rest = text.slice(1);
  while (!rest.startsWith('}')) {
    const name = LABEL.exec(rest)?.[0];
    if (name === undefined) throw new Error(`no label: ${line}`);
    const quoted = /^="((?:[^"\\\n]|\\["\\n])*)"/.exec(rest.slice(name.length));
    if (quoted === null) throw new Error(`no value of ${name}: ${line}`);
    if (Object.hasOwn(labels, name)) throw new Error(`a second ${name}: ${line}`);
    labels[name] = unescape(quoted[1] ?? '', /\\(.)/g, { '\\': '\\', n: '\n', '"': '"' });
    rest = rest.slice(name.length + quoted[0].length);
    if (rest.startsWith(',')) rest = rest.slice(1);
    else if (!rest.startsWith('}')) throw new Error(`no end of labels: ${line}`);
  }
  return { labels, rest: rest.slice(1) };
}

function unescape(text: string, pattern: RegExp, meant: Readonly<Record<string, string>>): string {
  return text.replaceAll(pattern, (_, escaped: string) => {
    const character = meant[escaped];
    if (character === undefined) throw new Error(`nothing is escaped so: \\${escaped}`);
    return character;
  });
}

function checkHistogram({ name, samples }: OpenFamily): void {
  const groups = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: '' }));
  for (const [labels, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const edges = buckets.map(({ labels: { le = '' } }) => Number(le.replace('Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const grows = (numbers: readonly number[]): boolean =>
      numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0));
    const count = group.find((sample) => sample.name === `${name}_count`)?.value;
    const hasSum = group.some((sample) => sample.name === `${name}_sum`);
    const isWhole = edges.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === count && hasSum;
    if (!isWhole || !grows(edges) || !grows(counts)) throw new Error(`no histogram: ${labels}`);
  }
}
