import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from 'yaml';
import { quotable } from '../model/quotable.ts';
import type { ConfigEntry } from './config-layer.ts';

/*
  Settings in YAML, as Heron writes them: one map of whole keys (`topology.stmgrs: 3`). Values are
  taken as they are written, since each setting has a type of its own: a long number keeps its
  digits and `yes` stays a word.

  A value for each component may be a map, and several values a list:

    topology.component.rammap: { count: 536870912 }
    heron.scheduler.local.hosts: [127.0.0.1, 127.0.0.2]
*/

export interface ConfigText {
  readonly entries: ReadonlyMap<string, ConfigEntry>;
  readonly problems: readonly string[];
}

/** Reads the text of one file. `file` is how it is shown. */
export function parseConfigYaml(file: string, text: string): ConfigText {
  return new ConfigYaml(file, text).read();
}

class ConfigYaml {
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document;
  readonly #entries = new Map<string, ConfigEntry>();
  readonly #problems: string[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
  }

  read(): ConfigText {
    const { errors, contents } = this.#document;
    const broken = errors.map(({ message, pos: [at] }) => `${this.#origin(at)}: ${message}`);
    if (broken.length > 0) return { entries: new Map(), problems: broken };
    if (isMap<Node, Node | null>(contents)) {
      for (const pair of contents.items) this.#readPair(pair);
    } else if (contents !== null && !(isScalar(contents) && contents.value === null)) {
      this.#complain(contents, "expected settings, one 'key: value' on each line");
    }
    return { entries: this.#entries, problems: this.#problems };
  }

  #readPair({ key, value }: Pair<Node, Node | null>): void {
    if (!isScalar(key)) {
      this.#complain(key, 'the key of a setting must be a word');
      return;
    }
    const name = textOf(key);
    const text = this.#valueText(value);
    if (text === undefined) {
      const expected = 'a text, a number, true or false, a list of these or a map of numbers';
      this.#complain(key, `${quotable(name)}: expected ${expected}; keys are written whole`);
    } else if (text === '' && !isQuoted(value)) {
      this.#complain(key, `${quotable(name)} has no value`);
    } else this.#entries.set(name, { text, origin: this.#origin(startOf(key)) });
  }

  /** undefined for what is none of the forms above. */
  #valueText(value: Node | null): string | undefined {
    const node = isAlias(value) ? (value.resolve(this.#document) ?? null) : value;
    if (node === null) return '';
    if (isScalar(node)) return textOf(node);
    if (isSeq(node)) return joined(node.items.map((item) => (isScalar(item) ? textOf(item) : '')));
    if (!isMap(node)) return undefined;
    return joined(
      node.items.map((item) =>
        isScalar(item.key) && isScalar(item.value)
          ? `${textOf(item.key)}:${textOf(item.value)}`
          : '',
      ),
    );
  }

  #complain(node: Node, message: string): void {
    this.#problems.push(`${this.#origin(startOf(node))}: ${message}`);
  }

  #origin(offset: number): string {
    return `${this.#file}:${this.#lines.linePos(offset).line}`;
  }
}

/** As it is written; what stands in quotes, without them. */
function textOf({ value, source }: Scalar): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : (source ?? JSON.stringify(value));
}

function isQuoted(value: Node | null): boolean {
  return isScalar(value) && typeof value.value === 'string';
}

function joined(parts: readonly string[]): string | undefined {
  return parts.every((part) => part !== '' && !part.includes(',')) ? parts.join(',') : undefined;
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
