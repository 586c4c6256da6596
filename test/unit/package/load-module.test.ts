import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type EngineError, hasCode } from '../../../src/base/errors.ts';
import { loadTopologyModule } from '../../../src/package/load-module.ts';
import { moduleFolder, SMALL_TOPOLOGY } from '../../support/module-folder.ts';

/** How loading a module with this text fails. */
async function failure(promise: Promise<unknown>): Promise<EngineError> {
  const error: unknown = await promise.then(
    () => assert.fail('it should fail'),
    (reason: unknown) => reason,
  );
  assert.ok(hasCode(error, (error as EngineError).code), `not an EngineError: ${String(error)}`);
  return error;
}

describe('loading a topology module', () => {
  it('builds its default export with the name and arguments of the submit', async (t) => {
    const folder = await moduleFolder(t, { 'small.ts': SMALL_TOPOLOGY });
    const file = join(folder, 'small.ts');
    const { topology, factories } = await loadTopologyModule(file, { name: 'other', args: ['3'] });
    assert.equal(topology.name, 'other');
    assert.deepEqual(
      topology.components.map(({ name, parallelism }) => [name, parallelism]),
      [
        ['words', 1],
        ['sink', 3],
      ],
    );
    assert.deepEqual([...factories.keys()], ['words', 'sink']);
  });

  it('takes the only export that is a topology, whatever its name', async (t) => {
    const text = SMALL_TOPOLOGY.replace('export default', 'export const other = 1, mine =');
    const folder = await moduleFolder(t, { 'small.mts': text });
    const { topology } = await loadTopologyModule(join(folder, 'small.mts'));
    assert.equal(topology.name, 'small');
  });

  it('prefers the default export to others', async (t) => {
    const text = `${SMALL_TOPOLOGY}\nexport const second = topology('second', () => {});`;
    const folder = await moduleFolder(t, { 'small.ts': text });
    const { topology } = await loadTopologyModule(join(folder, 'small.ts'));
    assert.equal(topology.name, 'small');
  });

  it('names the absolute path of a module that is not there', async () => {
    const error = await failure(loadTopologyModule('no/such.ts'));
    assert.equal(error.code, 'MODULE_NOT_FOUND');
    assert.equal(error.message, `there is no topology module ${process.cwd()}/no/such.ts`);
  });

  it('does not take a folder for a module', async (t) => {
    const folder = await moduleFolder(t, {});
    const error = await failure(loadTopologyModule(folder));
    assert.equal(error.code, 'MODULE_NOT_FOUND');
    assert.match(error.message, /is a folder/);
  });

  it('says in one line why a module threw, with the stack of its author only', async (t) => {
    const text = `function check(): never {
      throw new Error('no input\\nsecond line');
    }
    check();`;
    const folder = await moduleFolder(t, { 'throws.ts': text });
    const file = join(folder, 'throws.ts');
    const error = await failure(loadTopologyModule(file));
    assert.equal(error.code, 'MODULE_FAILED');
    assert.equal(error.message, `the module ${file} failed while it was loaded: no input`);
    assert.match(error.stack ?? '', /throws\.ts:2:13/);
    assert.doesNotMatch(error.stack ?? '', /node:internal|load-module/);
  });

  it('names a package that is missing', async (t) => {
    const folder = await moduleFolder(t, { 'imports.ts': `import 'no-such-package';` });
    const error = await failure(loadTopologyModule(join(folder, 'imports.ts')));
    assert.equal(error.code, 'MODULE_FAILED');
    assert.match(error.message, /Cannot find package 'no-such-package'/);
  });

  it('takes a thrown value that is no Error', async (t) => {
    const folder = await moduleFolder(t, { 'throws.ts': `throw 'plain text';` });
    const error = await failure(loadTopologyModule(join(folder, 'throws.ts')));
    assert.match(error.message, /plain text$/);
  });

  it('says what a module without a topology exports and what to write', async (t) => {
    const folder = await moduleFolder(t, {
      'words.ts': `export const words = 1; export default class Words {}`,
      'empty.ts': `export {};`,
    });
    const words = await failure(loadTopologyModule(join(folder, 'words.ts')));
    assert.equal(words.code, 'MODULE_WITHOUT_TOPOLOGY');
    assert.match(words.message, /exports default, words; write: export default topology\(/);
    const empty = await failure(loadTopologyModule(join(folder, 'empty.ts')));
    assert.match(empty.message, /exports nothing/);
  });

  it('does not choose among several topologies', async (t) => {
    const text = `import { topology } from 'heron-ts';
      export const one = topology('one', () => {});
      export const two = topology('two', () => {});`;
    const folder = await moduleFolder(t, { 'several.ts': text });
    const error = await failure(loadTopologyModule(join(folder, 'several.ts')));
    assert.equal(error.code, 'MODULE_WITHOUT_TOPOLOGY');
    assert.match(error.message, /several topologies \(one, two\)/);
  });

  it('passes on all that is wrong with the topology', async (t) => {
    const folder = await moduleFolder(t, { 'small.ts': SMALL_TOPOLOGY });
    const loading = loadTopologyModule(join(folder, 'small.ts'), { name: 'a.b', args: ['0'] });
    const error = await failure(loading);
    assert.equal(error.code, 'INVALID_TOPOLOGY');
    assert.match(error.message, /2 problems:\n.*name 'a\.b'.*\n.*parallelism/);
  });

  it('says when the function of the topology throws', async (t) => {
    const text = `import { topology } from 'heron-ts';
      export default topology('broken', () => { throw new TypeError('oh'); });`;
    const folder = await moduleFolder(t, { 'broken.ts': text });
    const file = join(folder, 'broken.ts');
    const error = await failure(loadTopologyModule(file, { shownAs: '/home/me/broken.ts' }));
    assert.equal(error.code, 'MODULE_FAILED');
    assert.equal(
      error.message,
      'the function given to topology() in /home/me/broken.ts failed: oh',
    );
    assert.match(error.stack ?? '', /TypeError: oh\n.*broken\.ts:2:/);
    assert.doesNotMatch(error.stack ?? '', /node:internal|src\/package/);
  });
});
