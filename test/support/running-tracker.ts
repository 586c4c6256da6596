import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { packageRoot } from '../../src/base/entry.ts';
import type { Cluster } from './cluster.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

/** What `heron tracker --json` prints when it listens. */
export interface TrackerStart {
  readonly url: string;
  readonly tokenFile?: string;
  readonly auditLog?: string;
}

export interface RunningTracker extends TrackerStart, AsyncDisposable {}

/** `heron tracker` over a cluster, on a free port, until it is disposed of: it must end well. */
export async function aTracker(
  cluster: Cluster,
  ...flags: readonly string[]
): Promise<RunningTracker> {
  const command = join(packageRoot(), 'bin', 'heron.mjs');
  const child = spawn(process.execPath, [command, 'tracker', '--port=0', '--json', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: cluster.folder,
    env: {
      ...process.env,
      HERON_DATA: cluster.dataRoot,
      HERON_CONFIG: cluster.configRoot,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    },
  });
  const said = text(child.stderr);
  const end = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    end.then(async () => assert.fail(`heron tracker ended: ${await said}`)),
  ])) as [string];
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const [code] = (await end) as [number | null];
    assert.equal(code, 0, await said);
  };
  return { ...(JSON.parse(line) as TrackerStart), [Symbol.asyncDispose]: stop };
}
