import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { suite, test } from 'node:test';
import ts from 'typescript';

/*
  Simulation and the test kit run the engine's own classes. What they may bring of their own is the
  outside world: the ports that ARCHITECTURE.md names ("The simulated world"). This test asks the
  compiler for every class, object and function in their folders that stands for a type of the
  engine, and holds the list to that section.
*/

const ROOT = join(import.meta.dirname, '..', '..');
const OWN_FOLDERS = ['simulation', 'testing'];

/** What users write: the simulator's workloads and the test kit's stand-ins are users. */
const USER_CODE = [
  'BasicBolt',
  'Bolt',
  'ComponentFactory',
  'CustomGrouping',
  'DefineTopology',
  'Spout',
];

/** What the engine's objects are constructed with, and what they tell the one who did it. */
const OPTIONS_AND_EVENTS = [
  'ByteStreamEvents',
  'ContainerProcessesOptions',
  'LaunchOptions',
  'ProcessMain',
  'ProcessOptions',
  'TaskOptions',
];

/** The first column of the table in ARCHITECTURE.md. */
function permittedPorts(): readonly string[] {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = /\n## The simulated world\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const names = rows.flatMap((row) => (row.split('|')[1] ?? '').match(/\w+/g) ?? []);
  assert.ok(names.length > 0, 'the section has a table of ports');
  return names;
}

function ownFiles(): readonly string[] {
  return globSync(`src/{${OWN_FOLDERS.join(',')}}/**/*.ts`, { cwd: ROOT });
}

/** By type of the engine: the files that have something of that type of their own. */
function engineTypesStoodFor(): ReadonlyMap<string, readonly string[]> {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) =>
    readFileSync(file, 'utf8'),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(
    ownFiles().map((file) => join(ROOT, file)),
    { ...options, noEmit: true, incremental: false },
  );
  const search = new Search(program.getTypeChecker());
  for (const source of program.getSourceFiles()) {
    if (isOwn(source.fileName)) search.look(source, relative(ROOT, source.fileName));
  }
  return search.found;
}

class Search {
  readonly found = new Map<string, string[]>();
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  look(node: ts.Node, file: string): void {
    if (ts.isClassLike(node)) {
      for (const { types } of node.heritageClauses ?? []) {
        for (const type of types) this.#note(this.#checker.getTypeAtLocation(type), file);
      }
    } else if (ts.isObjectLiteralExpression(node)) {
      const type = this.#checker.getContextualType(node);
      for (const part of partsOf(type)) if (this.#hasMethods(part)) this.#note(part, file);
    } else if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) {
      const type = this.#checker.getContextualType(node);
      if (type?.aliasSymbol !== undefined) this.#note(type, file);
    }
    ts.forEachChild(node, (child) => this.look(child, file));
  }

  #note(type: ts.Type, file: string): void {
    const symbol = type.aliasSymbol ?? type.symbol;
    const declaration = symbol?.declarations?.[0];
    if (symbol === undefined || declaration === undefined || symbol.name === '__type') return;
    if (!isEngine(declaration.getSourceFile().fileName)) return;
    const files = this.found.get(symbol.name) ?? [];
    if (!files.includes(file)) files.push(file);
    this.found.set(symbol.name, files);
  }

  /** Plain data is no variant of anything. */
  #hasMethods(type: ts.Type): boolean {
    return type
      .getProperties()
      .map((property) => this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property)))
      .some((property) => property.getCallSignatures().length > 0);
  }
}

function partsOf(type: ts.Type | undefined): readonly ts.Type[] {
  if (type === undefined) return [];
  return type.isUnionOrIntersection() ? type.types.flatMap(partsOf) : [type];
}

function isOwn(file: string): boolean {
  return OWN_FOLDERS.some((folder) => file.startsWith(join(ROOT, 'src', folder) + sep));
}

function isEngine(file: string): boolean {
  return file.startsWith(join(ROOT, 'src') + sep) && !isOwn(file);
}

suite('permitted ports', () => {
  const found = engineTypesStoodFor();

  test('simulation and testing stand for permitted ports only', () => {
    const permitted = [...permittedPorts(), ...USER_CODE, ...OPTIONS_AND_EVENTS];
    const others = [...found].filter(([type]) => !permitted.includes(type));
    assert.deepEqual(others, []);
  });

  test('nothing is permitted that nobody needs', () => {
    const permitted = [...permittedPorts(), ...USER_CODE, ...OPTIONS_AND_EVENTS];
    assert.deepEqual(
      permitted.filter((type) => !found.has(type)),
      [],
    );
  });

  test('no class of the engine is changed from outside', () => {
    const changing = ownFiles().filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const engine = [...text.matchAll(/import (?:\{([^}]*)\}) from '\.\.\/(?:\.\.\/)?[^']*'/g)];
      const names = engine.flatMap(([, list = '']) => list.match(/\b[A-Z]\w+/g) ?? []);
      return names.some((name) => new RegExp(`\\b${name}\\.prototype\\b`).test(text));
    });
    assert.deepEqual(changing, []);
  });
});
