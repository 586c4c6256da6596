import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/entry.ts';

/** What a command may find, in the order of the columns. */
export const SITUATIONS = ['absent', 'runs', 'half dead', 'store down'] as const;

export type Situation = (typeof SITUATIONS)[number];

export interface ExitCodeRow {
  /** The command and its options. */
  readonly words: readonly string[];
  readonly codes: Readonly<Record<Situation, number>>;
}

const ROW = /^\| (`.+`) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm;

/** The table of docs/cli.md: what users are told is what is tested. */
export function exitCodeTable(): readonly ExitCodeRow[] {
  const text = readFileSync(join(packageRoot(), 'docs', 'cli.md'), 'utf8');
  assert.ok(text.includes(`| command | ${SITUATIONS.join(' | ')} |`));
  return Array.from(text.matchAll(ROW), ([, commands = '', ...codes]) =>
    Array.from(commands.matchAll(/`([^`]+)`/g), ([, command = '']) => ({
      words: command.split(' '),
      codes: Object.fromEntries(
        SITUATIONS.map((situation, column) => [situation, Number(codes[column])]),
      ) as Record<Situation, number>,
    })),
  ).flat();
}

/** Commands that have commands of their own. */
const NESTED: ReadonlySet<string> = new Set(['dead-letters', 'explore']);

/** A whole command line of a row, about the topology `name` at `place`. */
export function lineOf(
  { words }: ExitCodeRow,
  {
    place,
    name,
    module,
  }: { readonly place: string; readonly name: string; readonly module: string },
): readonly string[] {
  const [command = '', ...options] = words;
  const given = { submit: [place, module, name], run: [place, module, name] }[command];
  const short = { list: [place], doctor: [] }[command];
  if (NESTED.has(command)) {
    const isOption = (word: string): boolean => word.startsWith('-');
    const path = words.slice(
      0,
      words.findIndex(isOption) < 0 ? undefined : words.findIndex(isOption),
    );
    const about = words[1] === 'topologies' ? [place] : [place, name];
    return [...path, ...about, ...words.slice(path.length)];
  }
  return [command, ...(given ?? short ?? [place, name]), ...options];
}
