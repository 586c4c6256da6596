import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { entryFile } from '../../../src/base/entry.ts';

/*
  What a process loads it pays for at each of its starts, and a topology has many instances. Each
  thread loads everything anew.
*/

/** Prints what an import resolves to, and what that imports, all the way down. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const urls = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      urls.add(resolved.url);
      return resolved;
    },
  });
  for (const file of process.argv.slice(1)) await import(file);
  console.log([...urls].join('\\n'));
`;

async function loadedBy(...entries: readonly string[]): Promise<readonly string[]> {
  const files = entries.map(entryFile);
  const args = ['--input-type=module', '-e', SCRIPT, ...files];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().split('\n');
}

function assertLacks(urls: readonly string[], needless: readonly RegExp[]): void {
  for (const pattern of needless) {
    assert.deepEqual(
      urls.filter((url) => pattern.test(url)),
      [],
    );
  }
}

const NEVER = [/^node:child_process$/, /^node:https?$/, /^node:crypto$/, /\/msgpackr\//];

test('the main thread of an instance loads neither sockets nor what packs values', async () => {
  const urls = await loadedBy('instance/instance-main', 'instance/system-instance-environment');
  assert.ok(urls.some((url) => url.endsWith('/task/task.ts')));
  assertLacks(urls, [...NEVER, /^node:net$/, /\/@bufbuild\//]);
});

test("the gateway's thread loads nothing for values", async () => {
  const urls = await loadedBy(
    'instance/gateway/gateway-main',
    'instance/gateway/system-gateway-environment',
  );
  assert.ok(urls.includes('node:net'));
  assertLacks(urls, NEVER);
});

test('the scheduler loads nothing for connections', async () => {
  const urls = await loadedBy('scheduler/local/scheduler-main', 'process-start/system-environment');
  assertLacks(urls, [/^node:net$/, /^node:https?$/]);
});

/** What the pages and the sinks that are off by default need. */
const OF_OTHER_SINKS =
  /\/(?:http-serving|http-post|delivery-sink|graphite|otlp|web-sink)[^/]*\.ts$/;

for (const name of ['metrics-manager', 'metrics-cache', 'topology-master']) {
  test(`the ${name} loads neither node:http nor what few ask for`, async () => {
    const urls = await loadedBy(`${name}/${name}-main`, 'process-start/system-environment');
    assert.ok(urls.some((url) => url.endsWith(`/${name}.ts`)));
    assertLacks(urls, [/^node:child_process$/, /^node:https?$/, /\/msgpackr\//, OF_OTHER_SINKS]);
  });
}
