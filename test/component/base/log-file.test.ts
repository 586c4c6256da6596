import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LINES = 2_000;
const THREADS = ['task', 'gateway'];

test('L1: threads that share a file write whole lines, each in its own order', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const bounds = { maxBytes: 10_000_000, filesMax: 2 };
  await Promise.all(
    THREADS.map(async (name) => {
      const workerData = { file, name, lines: LINES, ...bounds };
      const worker = new Worker(join(import.meta.dirname, 'fixtures', 'log-worker.ts'), {
        workerData,
      });
      await once(worker, 'exit');
    }),
  );
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly name: string; readonly line: number });
  for (const name of THREADS) {
    assert.deepEqual(
      lines.filter((line) => line.name === name).map(({ line }) => line),
      Array.from({ length: LINES }, (_, index) => index),
    );
  }
});
