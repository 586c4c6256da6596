import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleTopology } from '../../../src/package/bundle.ts';
import { moduleFolder } from '../../support/module-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);

/** Bundles the first of the files and runs the bundle; what it prints, and the warnings. */
async function bundleAndRun(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly output: string; readonly warnings: readonly string[] }> {
  const source = await moduleFolder(t, files);
  const [entry = ''] = Object.keys(files);
  const target = (await temporaryFolder(t)).path;
  const { warnings } = await bundleTopology(join(source, entry), target);
  const { stdout } = await run(process.execPath, [join(target, 'topology.mjs')]);
  return { output: stdout.trim(), warnings };
}

describe('the bundle of a topology module', () => {
  it('holds what the module imports, in any dialect of TypeScript', async (t) => {
    const { output, warnings } = await bundleAndRun(t, {
      'main.ts': `
        import { Colour } from './colour';
        import { name } from 'a-package';
        class Point { constructor(readonly x: number) {} }
        console.log(Colour.blue, name, new Point(7).x, Point.name);`,
      'colour.ts': `export enum Colour { red, blue }`,
      'node_modules/a-package/package.json': '{"name":"a-package","main":"index.js"}',
      'node_modules/a-package/index.js': `exports.name = 'packaged';`,
    });
    assert.equal(output, '1 packaged 7 Point');
    assert.deepEqual(warnings, []);
  });

  it("keeps the engine outside: it is the container's", async (t) => {
    const source = await moduleFolder(t, {
      'main.ts': `export { topology } from 'heron-ts'; export * from 'heron-ts/testing';`,
    });
    const target = (await temporaryFolder(t)).path;
    await bundleTopology(join(source, 'main.ts'), target);
    const code = await readFile(join(target, 'topology.mjs'), 'utf8');
    assert.match(code, /from "heron-ts"/);
    assert.match(code, /from "heron-ts\/testing"/);
    assert.ok(code.length < 1_000);
  });

  it('gives CommonJS packages what they expect, beside the same names of the author', async (t) => {
    const { output } = await bundleAndRun(t, {
      'main.mjs': `
        import { createRequire } from 'node:module';
        import { dirname } from 'node:path';
        import { fileURLToPath } from 'node:url';
        import { described } from './old.cjs';
        const require = createRequire(import.meta.url);
        const __dirname = dirname(fileURLToPath(import.meta.url));
        console.log(described, require('node:path').basename(__dirname) !== '');`,
      'old.cjs': `
        const { EOL } = require(['node', 'os'].join(':'));
        exports.described = [typeof EOL, typeof __dirname, typeof __filename].join();`,
    });
    assert.equal(output, 'string,string,string true');
  });

  it('maps back to the files of the author, wherever it is', async (t) => {
    const source = await moduleFolder(t, {
      'main.ts': `import { fail } from './deep/fail.ts';\nfail();`,
      'deep/fail.ts': [
        'interface Unused {',
        '  a: 1;',
        '}',
        'export function fail(): never {',
        "  throw new Error('here');",
        '}',
      ].join('\n'),
    });
    const target = (await temporaryFolder(t)).path;
    await bundleTopology(join(source, 'main.ts'), target);
    const failing = run(process.execPath, ['--enable-source-maps', join(target, 'topology.mjs')]);
    const stderr = await failing.then(
      () => assert.fail('it should throw'),
      (error: { stderr: string }) => error.stderr,
    );
    assert.ok(stderr.includes(`${join(source, 'deep/fail.ts')}:5:9`), stderr);
    const map = JSON.parse(await readFile(join(target, 'topology.mjs.map'), 'utf8')) as {
      sources: string[];
    };
    assert.ok(map.sources.includes(pathToFileURL(join(source, 'deep/fail.ts')).href));
  });

  it('leaves native addons where they are installed, and warns', async (t) => {
    const source = await moduleFolder(t, {
      'main.ts': `import './native.cjs';`,
      'native.cjs': `try { require('./build/fast.node'); } catch {}`,
      'build/fast.node': 'no real addon',
    });
    const target = (await temporaryFolder(t)).path;
    const { warnings } = await bundleTopology(join(source, 'main.ts'), target);
    const addon = join(source, 'build/fast.node');
    assert.deepEqual(warnings, [
      `the native addon fast.node is not in the archive; every machine needs ${addon}`,
    ]);
    assert.ok((await readFile(join(target, 'topology.mjs'), 'utf8')).includes(addon));
  });

  it('is not made of a module with errors, each of which has its file and line', async (t) => {
    const source = await moduleFolder(t, {
      'main.ts': `import './absent.ts';\nimport 'no-such-package';\n`,
      'syntax.ts': `const a = 1;\n  const b = ;\n`,
    });
    const target = (await temporaryFolder(t)).path;
    await assert.rejects(bundleTopology(join(source, 'main.ts'), target), (error: Error) => {
      const lines = error.message.split('\n');
      assert.equal(lines[0], 'cannot bundle main.ts:');
      assert.match(error.message, new RegExp(`${source}/main.ts:1:8: Could not resolve`));
      assert.match(error.message, new RegExp(`${source}/main.ts:2:8: Could not resolve`));
      return true;
    });
    await assert.rejects(bundleTopology(join(source, 'syntax.ts'), target), {
      code: 'MODULE_FAILED',
      message: `cannot bundle syntax.ts: ${join(source, 'syntax.ts')}:2:13: Unexpected ";"`,
    });
  });

  it('is only made of files that can be topology modules', async (t) => {
    const target = (await temporaryFolder(t)).path;
    await assert.rejects(bundleTopology('/no/such.ts', target), { code: 'MODULE_NOT_FOUND' });
    await assert.rejects(bundleTopology('words.jar', target), {
      code: 'INVALID_ARGUMENT',
      message: /words\.jar cannot be a topology module: it must end in \.ts, \.mts, \.js, \.mjs$/,
    });
  });
});
