import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { TopologyDefinition } from '../../src/api/index.ts';
import { packageRoot } from '../../src/base/entry.ts';
import { createProgram } from '../../src/cli/program.ts';
import { SETTINGS } from '../../src/model/setting-table.ts';
import { linkEngine } from '../../src/package/link-engine.ts';
import { testTopology } from '../../src/testing/index.ts';
import { compileModules } from '../support/compile-modules.ts';
import { codeBlocksOf, inlineCodeOf, tableRowsOf } from '../support/markdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
  What the documentation shows compiles, and what it names exists. Each page is a folder of modules:
  a block that begins with `// name.ts` is that file, which the other blocks of its page may import.
*/

const root = packageRoot();
const PAGES = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()];

/** What excerpts take for granted, because the text around them says so. Imports win over it. */
const SURROUNDINGS = `
declare const assert: typeof import('node:assert/strict');
declare const test: typeof import('node:test').test;
declare const testSpout: typeof import('heron-ts/testing').testSpout;
declare const fakeService: () => Promise<readonly number[]>;
declare const OrdersBase: ReturnType<
  typeof import('heron-ts').Spout.of<{ readonly default: readonly ['order'] }>
>;
declare class Orders extends OrdersBase {
  constructor(service: typeof fakeService);
  override nextTuple(): void;
}
declare module 'vitest' {
  export const test: typeof import('node:test').test;
  export function expect(value: unknown): {
    readonly toEqual: (expected: unknown) => void;
    readonly toMatchObject: (expected: object) => void;
    readonly toHaveLength: (expected: number) => void;
  };
}
`;

/** Modules that pages import and do not show. */
const MODULES: Readonly<Record<string, string>> = {
  'docs/writing-tests/word-count.ts': `export { default } from '../../examples/word-count.ts';`,
  'docs/writing-tests/count.ts': `
    import { BasicBolt, fields, type Tuple } from 'heron-ts';
    export class Count extends BasicBolt.of({
      default: fields<{ word: string; count: number }>()('word', 'count'),
    }) {
      override execute(_tuple: Tuple<{ word: string }>): void {}
    }`,
};

interface ShownModule {
  readonly page: string;
  /** Of its first line in the page. */
  readonly line: number;
  readonly code: string;
}

function shownModules(): ReadonlyMap<string, ShownModule> {
  const modules = new Map<string, ShownModule>();
  for (const page of PAGES) {
    for (const { language, line, code } of codeBlocksOf(readPage(page))) {
      if (language !== 'ts') continue;
      const name = /^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1] ?? `block-${line}.ts`;
      const path = join(root, 'docs', basename(page, '.md'), name);
      assert.ok(!modules.has(path), `${page} shows ${name} twice`);
      modules.set(path, { page, line, code });
    }
  }
  return modules;
}

function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

test('every block of TypeScript in the documentation compiles', () => {
  const shown = shownModules();
  assert.ok(shown.size > 10, 'the blocks have not been found');
  const modules = new Map<string, string>([
    [join(root, 'docs', 'surroundings.d.ts'), SURROUNDINGS],
    ...Object.entries(MODULES).map(([path, text]) => [join(root, path), text] as const),
    ...[...shown].map(([path, { code }]) => [path, code] as const),
  ]);
  const complaints = compileModules(modules).map(({ path, line, text }) => {
    const found = shown.get(path);
    const where =
      found === undefined ? relative(root, path) : `${found.page}:${found.line + line - 1}`;
    return `${where}: ${text}`;
  });
  assert.deepEqual(complaints, []);
});

test('every setting that the guides name exists', () => {
  const guides = [
    'getting-started',
    'coming-from-storm',
    'operations',
    'wire-protocol',
    'reliability',
  ];
  for (const guide of guides) {
    const keys = readPage(`docs/${guide}.md`).matchAll(/(?<![\w./])(?:topology|heron)\.[\w.]*\w/g);
    for (const [key] of keys) {
      const isOther = /^heron\.proto\.|^topology\.(ts|test\.ts)$/.test(key);
      assert.ok(isOther || key in SETTINGS, `docs/${guide}.md names a setting ${key}`);
    }
  }
});

test('every link leads to a file, and to a heading of it', () => {
  for (const page of [...PAGES, 'examples/README.md']) {
    const links = readPage(page).matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g);
    for (const [link, path = '', heading] of links) {
      const target = path === '' ? page : join(dirname(page), path);
      assert.ok(existsSync(join(root, target)), `${page}: nothing is at ${link}`);
      if (heading === undefined) continue;
      assert.ok(anchorsOf(target).includes(heading), `${page}: no heading is at ${link}`);
    }
  }
});

/** As GitHub makes them of headings. */
function anchorsOf(page: string): readonly string[] {
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('every command that the documentation names exists', () => {
  const known = createProgram(async () => {}).commands.map((command) => command.name());
  for (const page of PAGES) {
    const commands = readPage(page).matchAll(/(?:^|`|npx |\$ )heron ([a-z][a-z-]*)/gm);
    for (const [, command = ''] of commands) {
      assert.ok(known.includes(command), `${page} names a command heron ${command}`);
    }
  }
});

test('the program on the front page counts its words', async () => {
  const program = codeBlocksOf(readPage('README.md')).find(({ language }) => language === 'ts');
  await using folder = await temporaryFolder();
  await linkEngine(folder.path);
  const file = join(folder.path, 'words.ts');
  await writeFile(file, program?.code ?? '');
  const { default: words } = (await import(pathToFileURL(file).href)) as {
    readonly default: TopologyDefinition;
  };
  await using run = await testTopology(words);
  const { result } = await run.toCompletion();
  assert.equal(result, 'completed');
  const counted = run.received('count').map(({ word }) => String(word));
  const sentences = 'the quick brown fox jumps over the lazy dog';
  assert.deepEqual(counted.toSorted(), sentences.split(' ').toSorted());
});

test('the page about the wire lists every field that is not of Heron', () => {
  const documented = tableRowsOf(readPage('docs/wire-protocol.md'))
    .filter(({ section }) => section === 'Extensions')
    .flatMap(({ cells }) =>
      inlineCodeOf(cells[0] ?? '').flatMap((message) =>
        inlineCodeOf(cells[1] ?? '').map((field) => `${message}.${field}`),
      ),
    );
  assert.deepEqual(documented.toSorted(), ownFields().toSorted());
});

/** `Message.field` of every field from 1000 up. */
function ownFields(): readonly string[] {
  return globSync('src/wire/proto/*.proto', { cwd: root }).flatMap((file) => {
    const fields: string[] = [];
    let message = '';
    for (const line of readPage(file).split('\n')) {
      message = /^message (\w+)/.exec(line)?.[1] ?? message;
      const field = /^ {2}(?:optional|repeated) \S+ (\w+) = 1\d{3}\b/.exec(line)?.[1];
      if (field !== undefined) fields.push(`${message}.${field}`);
    }
    return fields;
  });
}
