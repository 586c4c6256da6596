import { userError } from '../../base/errors.ts';

/*
  The query language of Heron's Tracker, as a tree and from its text.

      query    = number | TS | operator | "(" query ")"
      TS       = "TS" "(" component "," ( instance | "*" ) "," metric ")"
      operator = "DEFAULT"    "(" number "," query ")"
               | "SUM"        "(" query { "," query } ")"
               | "MAX"        "(" query { "," query } ")"
               | "PERCENTILE" "(" number "," query { "," query } ")"
               | "DIVIDE" | "MULTIPLY" | "SUBTRACT"  "(" query "," query ")"
               | "RATE"       "(" query ")"

  The three words of TS are whatever lies between the commas; parentheses within them have to pair.

  S1. What is accepted is bounded: characters, nesting, series. So is what it costs.
  S2. Every refusal says at which character, what was expected there, and what stands there.
*/

/** A query of a dashboard has some hundred; the limit keeps a request line within its own (S1). */
const CHARACTERS_MAX = 4_096;
const NESTING_MAX = 32;
const SERIES_MAX = 32;
const QUANTILE_MAX = 100;
/** Of the text that a message quotes. */
const QUOTED_CHARACTERS_MAX = 20;

/** A metric of one instance of a component, or of each. */
export interface SeriesName {
  readonly component: string;
  /** Undefined: of all instances. */
  readonly instance: string | undefined;
  readonly metric: string;
}

export interface SeriesNode extends SeriesName {
  readonly kind: 'series';
}

export interface PairNode {
  readonly kind: 'divide' | 'multiply' | 'subtract';
  readonly left: QueryNode;
  readonly right: QueryNode;
}

export type QueryNode =
  | { readonly kind: 'constant'; readonly value: number }
  | SeriesNode
  | { readonly kind: 'default'; readonly value: number; readonly operand: QueryNode }
  | { readonly kind: 'sum' | 'max'; readonly operands: readonly QueryNode[] }
  | {
      readonly kind: 'percentile';
      readonly quantile: number;
      readonly operands: readonly QueryNode[];
    }
  | PairNode
  | { readonly kind: 'rate'; readonly operand: QueryNode };

const OPERATORS = [
  'TS',
  'DEFAULT',
  'SUM',
  'MAX',
  'PERCENTILE',
  'DIVIDE',
  'MULTIPLY',
  'SUBTRACT',
  'RATE',
] as const;

const WORD = /[A-Za-z_]\w*/y;
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const BLANKS = /\s*/y;

/**
 * @throws EngineError INVALID_ARGUMENT with the place of the mistake (S2) or the limit that the
 * query exceeds (S1).
 */
export function parseQuery(text: string): QueryNode {
  if (text.length > CHARACTERS_MAX) {
    const limit = `more than the ${CHARACTERS_MAX} that are read`;
    throw userError('INVALID_ARGUMENT', `the query has ${text.length} characters, ${limit}`);
  }
  return new QueryParser(text).whole();
}

class QueryParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #series = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): QueryNode {
    const node = this.#query();
    if (this.#next() !== '') throw this.#expected('the end of the query');
    return node;
  }

  #query(): QueryNode {
    if (this.#next() === '(') return this.#nested(() => this.#query());
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'constant', value: this.#finite(number) };
    const start = this.#at;
    const name = this.#match(WORD) ?? '';
    const operator = OPERATORS.find((known) => known === name);
    if (operator === undefined) {
      this.#at = start;
      throw this.#expected(`a number or one of ${OPERATORS.join(', ')}`);
    }
    return this.#nested(() => this.#operands(operator));
  }

  #operands(operator: (typeof OPERATORS)[number]): QueryNode {
    switch (operator) {
      case 'TS':
        return this.#seriesNode();
      case 'DEFAULT': {
        const value = this.#number('a number, which takes the place of missing points');
        this.#comma();
        return { kind: 'default', value, operand: this.#overTime() };
      }
      case 'SUM':
        return { kind: 'sum', operands: this.#list() };
      case 'MAX':
        return { kind: 'max', operands: this.#list() };
      case 'PERCENTILE': {
        const quantile = this.#quantile();
        this.#comma();
        return { kind: 'percentile', quantile, operands: this.#list() };
      }
      case 'DIVIDE':
        return this.#pair('divide');
      case 'MULTIPLY':
        return this.#pair('multiply');
      case 'SUBTRACT':
        return this.#pair('subtract');
      case 'RATE':
        return { kind: 'rate', operand: this.#overTime() };
    }
  }

  #seriesNode(): SeriesNode {
    const start = this.#at;
    const component = this.#name('the name of a component');
    this.#comma();
    const instance = this.#name('the id of an instance, or *');
    this.#comma();
    const metric = this.#name('the name of a metric');
    this.#series += 1;
    if (this.#series > SERIES_MAX) {
      this.#at = start;
      throw this.#expected(`no more than ${SERIES_MAX} series in one query`);
    }
    return { kind: 'series', component, instance: instance === '*' ? undefined : instance, metric };
  }

  #pair(kind: PairNode['kind']): QueryNode {
    const left = this.#query();
    this.#comma();
    this.#next();
    const start = this.#at;
    const right = this.#query();
    if (kind === 'divide' && right.kind === 'constant' && right.value === 0) {
      this.#at = start;
      throw this.#expected('a number that is not 0, as it divides');
    }
    return { kind, left, right };
  }

  #list(): QueryNode[] {
    const operands = [this.#query()];
    while (this.#next() === ',') {
      this.#comma();
      operands.push(this.#query());
    }
    return operands;
  }

  /** DEFAULT and RATE of a number would mean nothing. */
  #overTime(): QueryNode {
    this.#next();
    const start = this.#at;
    const node = this.#query();
    if (node.kind !== 'constant') return node;
    this.#at = start;
    throw this.#expected('TS or an operator');
  }

  #quantile(): number {
    this.#next();
    const start = this.#at;
    const what = `a number from 0 to ${QUANTILE_MAX}, the percentile`;
    const value = this.#number(what);
    if (value >= 0 && value <= QUANTILE_MAX) return value;
    this.#at = start;
    throw this.#expected(what);
  }

  #number(what: string): number {
    const text = this.#match(NUMBER);
    if (text === undefined) throw this.#expected(what);
    return this.#finite(text);
  }

  #finite(text: string): number {
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    this.#at -= text.length;
    throw this.#expected('a number that a double can hold');
  }

  /** Up to the comma or the parenthesis that ends it. */
  #name(what: string): string {
    this.#next();
    const start = this.#at;
    let open = 0;
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (open === 0 && (character === ',' || character === ')')) break;
      if (character === '(') open += 1;
      if (character === ')') open -= 1;
      this.#at += 1;
    }
    const name = this.#text.slice(start, this.#at).trim();
    if (name !== '' && open === 0) return name;
    if (name === '') this.#at = start;
    throw this.#expected(name === '' ? what : '`)`');
  }

  /** What stands in parentheses. */
  #nested(parse: () => QueryNode): QueryNode {
    if (this.#next() !== '(') throw this.#expected('`(`');
    this.#depth += 1;
    if (this.#depth > NESTING_MAX) {
      throw this.#expected(`no more than ${NESTING_MAX} parentheses in each other`);
    }
    this.#at += 1;
    const node = parse();
    if (this.#next() !== ')') throw this.#expected('`,` or `)`');
    this.#at += 1;
    this.#depth -= 1;
    return node;
  }

  #comma(): void {
    if (this.#next() !== ',') throw this.#expected('`,`');
    this.#at += 1;
  }

  /** The character behind blanks; empty at the end. */
  #next(): string {
    this.#match(BLANKS);
    return this.#text.charAt(this.#at);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #expected(what: string): Error {
    const rest = this.#text.slice(this.#at);
    const quoted = rest.slice(0, QUOTED_CHARACTERS_MAX);
    const found = rest === '' ? 'the query ends' : `\`${quoted}\` stands there`;
    const place = `character ${this.#at + 1} of the query`;
    return userError('INVALID_ARGUMENT', `${place}: expected ${what}, but ${found}`);
  }
}
