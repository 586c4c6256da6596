import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { unpack } from '../../../src/package/archive.ts';
import { linkEngine } from '../../../src/package/link-engine.ts';
import { type PackagedTopology, packageTopology } from '../../../src/package/package-topology.ts';
import { decodeTopology } from '../../../src/wire/topology.ts';
import { moduleFolder, SMALL_TOPOLOGY } from '../../support/module-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);

const tools = { clock: systemClock, random: createSeededRandom(1) };

async function packText(
  t: TestContext,
  text: string,
  options: { readonly name?: string; readonly args?: readonly string[] } = {},
): Promise<PackagedTopology & { readonly folder: string; readonly source: string }> {
  const source = await moduleFolder(t, { 'my-topology.ts': text });
  const folder = join((await temporaryFolder(t)).path, 'archives');
  const request = { file: join(source, 'my-topology.ts'), archiveFolder: folder, ...options };
  return { ...(await packageTopology(request, tools)), folder, source };
}

describe('packaging a topology', () => {
  it('makes one archive with all that a container needs', async (t) => {
    const packaged = await packText(t, SMALL_TOPOLOGY, { name: 'renamed', args: ['2'] });
    assert.equal(packaged.archivePath, join(packaged.folder, 'renamed.tar.gz'));
    assert.deepEqual(await readdir(packaged.folder), ['renamed.tar.gz']);
    const container = (await temporaryFolder(t)).path;
    await unpack(packaged.archivePath, container);
    assert.deepEqual(await readdir(container), [
      'heron-ts.json',
      'package.json',
      'renamed.defn',
      'topology.mjs',
      'topology.mjs.map',
    ]);
    const definition = decodeTopology(await readFile(join(container, 'renamed.defn')));
    assert.deepEqual(definition, packaged.topology);
    assert.match(definition.id, /^renamed[0-9a-f]{8}-/);
    assert.equal(definition.state, 'RUNNING');
    assert.deepEqual(definition.module, { file: 'topology.mjs', arguments: ['2'] });
  });

  it('gives every submit another id', async (t) => {
    const first = await packText(t, SMALL_TOPOLOGY);
    const second = await packText(t, SMALL_TOPOLOGY);
    assert.notEqual(first.topology.id, second.topology.id);
  });

  it('makes a bundle that runs elsewhere on the engine that is linked there', async (t) => {
    const text = SMALL_TOPOLOGY.replace(
      "this.emit({ word: 'heron' });",
      "if (this instanceof Spout) throw new Error('from the spout');",
    );
    const { archivePath, source } = await packText(t, text);
    const line = text.split('\n').findIndex((each) => each.includes('from the spout')) + 1;
    const container = join((await temporaryFolder(t)).path, 'container-1');
    await mkdir(container);
    await unpack(archivePath, container);
    await linkEngine(container);
    const script = `
      const { default: definition } = await import('./topology.mjs');
      const { factories } = definition.build();
      factories.get('words')().nextTuple();`;
    const running = run(
      process.execPath,
      ['--enable-source-maps', '--input-type=module', '-e', script],
      { cwd: container },
    );
    const stderr = await running.then(
      () => assert.fail('it should throw'),
      (error: { stderr: string }) => error.stderr,
    );
    assert.match(stderr, /Error: from the spout/);
    assert.ok(stderr.includes(`${join(source, 'my-topology.ts')}:${line}:`), stderr);
  });

  it('leaves no archive of a module that fails', async (t) => {
    const folder = join((await temporaryFolder(t)).path, 'archives');
    const source = await moduleFolder(t, { 'bad.ts': `throw new Error('no');` });
    const file = join(source, 'bad.ts');
    await assert.rejects(packageTopology({ file, archiveFolder: folder }, tools), {
      code: 'MODULE_FAILED',
      message: `the module ${file} failed while it was loaded: no`,
    });
    await assert.rejects(readdir(folder), { code: 'ENOENT' });
  });

  it('refuses a topology that is not valid', async (t) => {
    await assert.rejects(packText(t, SMALL_TOPOLOGY, { args: ['-1'] }), {
      code: 'INVALID_TOPOLOGY',
      message: /parallelism must be a whole number from 1, not -1/,
    });
  });
});
