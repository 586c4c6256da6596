import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { runInProcess } from '../../support/command-line.ts';
import { codeBlocksOf } from '../../support/markdown.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* `heron new`. scripts/check-package.ts proves that the project installs, compiles and runs. */

/** The tests of the project, as tests of the repository. */
await import('../../../templates/project/topology.test.ts');

const FILES = ['README.md', 'package.json', 'topology.test.ts', 'topology.ts', 'tsconfig.json'];

interface Description {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

async function aFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

async function readDescription(folder: string): Promise<Description> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Description;
}

test('a project of five files is written, and named after its folder', async (t) => {
  const root = await aFolder(t);
  const folder = join(root, 'My Words');
  const { code, stdout } = await runInProcess(root, ['new', folder]);
  assert.equal(code, 0);
  assert.match(stdout, /npm install\n {2}npm test\n {2}npm start/);
  assert.deepEqual((await readdir(folder)).toSorted(), FILES);
  assert.equal((await readDescription(folder)).name, 'my-words');
  assert.match(await readFile(join(folder, 'README.md'), 'utf8'), /^# my-words\n/);
});

test('the project wants what the engine was built with', async (t) => {
  const root = await aFolder(t);
  await runInProcess(root, ['new', join(root, 'words')]);
  const made = await readDescription(join(root, 'words'));
  const own = await readDescription(packageRoot());
  assert.deepEqual(made.engines, own.engines);
  assert.deepEqual(made.dependencies, { 'heron-ts': `^${own.version}` });
  for (const [name, range] of Object.entries(made.devDependencies)) {
    assert.equal(range, `^${Number.parseInt(own.devDependencies[name] ?? '', 10)}.0.0`, name);
  }
});

test('npm create makes the same with the same version', async () => {
  const own = await readDescription(packageRoot());
  const create = await readDescription(join(packageRoot(), 'create'));
  assert.equal(create.version, own.version);
  assert.deepEqual(create.dependencies, { 'heron-ts': own.version });
});

test('it can be repeated, also when only some of the files were written', async (t) => {
  const root = await aFolder(t);
  const args = ['new', '--json', join(root, 'words')];
  const first = await runInProcess(root, args);
  await rm(join(root, 'words', 'topology.ts'));
  await writeFile(join(root, 'words', 'notes.txt'), 'mine');
  const second = await runInProcess(root, args);
  assert.deepEqual(second, first);
  const { name, files } = JSON.parse(first.stdout) as { name: string; files: readonly string[] };
  assert.equal(name, 'words');
  assert.deepEqual(files.toSorted(), FILES);
  assert.deepEqual(
    (await readdir(join(root, 'words'))).toSorted(),
    [...FILES, 'notes.txt'].toSorted(),
  );
});

test('a file of somebody else is not overwritten', async (t) => {
  const root = await aFolder(t);
  await writeFile(join(root, 'package.json'), '{}');
  const { code, stderr } = await runInProcess(root, ['new', root]);
  assert.equal(code, 1);
  assert.match(stderr, /has a package\.json already; nothing was written: name another folder/);
  assert.deepEqual(await readdir(root), ['package.json']);
});

test('a folder that cannot be made is named', async (t) => {
  const root = await aFolder(t);
  const { code, stderr } = await runInProcess(root, ['new', join(root, 'no', 'such', 'folder')]);
  assert.equal(code, 100);
  assert.match(stderr, /cannot write the project .*no\/such\/folder: ENOENT/);
});

test('the guide shows the files that are written', async () => {
  const guide = await readFile(join(packageRoot(), 'docs', 'getting-started.md'), 'utf8');
  const blocks = codeBlocksOf(guide).filter(({ language }) => language === 'ts');
  assert.equal(blocks.length, 2);
  for (const { code } of blocks) {
    const [, name = '', text] = /^\/\/ (.*)\n([^]*)$/.exec(code) ?? [];
    assert.equal(
      `${text}\n`,
      await readFile(join(packageRoot(), 'templates/project', name), 'utf8'),
    );
  }
});
