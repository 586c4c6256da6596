import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createTracker } from '../../../src/tracker/tracker.ts';
import { eventually } from '../../support/eventually.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const GOLDEN = join(import.meta.dirname, '../../golden/state');
/** Looks are a second apart, and more on a busy machine. */
const PATIENTLY = { timeoutMs: 60_000 };
const FOLDERS = ['topologies', 'packingplans', 'executionstate', 'pplans', 'tmanagers'];

test("a tree with only Heron's files is shown, and nothing is written there", async (t) => {
  const { path } = await temporaryFolder(t);
  for (const folder of FOLDERS) {
    await mkdir(join(path, folder));
    const from = join(GOLDEN, `accepted-${folder}-g-live.bin`);
    await copyFile(from, join(path, folder, 'g-live'));
  }
  const before = await readdir(path, { recursive: true });
  const stateManager = stateManagerAt(path);
  t.after(() => stateManager.close());
  const tracker = createTracker({
    clusters: [{ name: 'local', address: path, stateManager, following: 'looks' }],
    clock: systemClock,
    logger: silentLogger,
  });
  t.after(() => tracker.close());
  const names = async (): Promise<unknown> => {
    const request = new Request('http://localhost/topologies', { headers: { host: 'localhost' } });
    return await (await tracker.fetch(request)).json();
  };
  await eventually(async () => {
    assert.deepEqual(await names(), { local: { tester: { default: ['g-live'] } } });
  }, PATIENTLY);
  await copyFile(join(path, 'topologies/g-live'), join(path, 'topologies/second'));
  await eventually(async () => {
    const { local } = (await names()) as { readonly local: object };
    assert.deepEqual(Object.keys(local).toSorted(), ['', 'tester']);
  }, PATIENTLY);
  assert.deepEqual(
    (await readdir(path, { recursive: true })).filter((name) => name !== 'topologies/second'),
    before,
  );
});
