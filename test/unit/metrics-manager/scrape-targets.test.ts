import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import {
  removeScrapeTarget,
  writeScrapeTarget,
} from '../../../src/metrics-manager/scrape-targets.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const common = { files: systemFiles, logger: silentLogger, id: 'metricsmgr-1' };

test('the target is told as Prometheus discovers by files, then taken back', async () => {
  await using folder = await temporaryFolder();
  const options = { ...common, logDirectory: folder.path };
  writeScrapeTarget(options, { host: '127.0.0.1', port: 1 });
  writeScrapeTarget(options, { host: '::1', port: 2 });
  const text = await readFile(join(folder.path, 'metricsmgr-1-targets.json'), 'utf8');
  assert.deepEqual(JSON.parse(text), [{ targets: ['[::1]:2'] }]);
  assert.equal((await readdir(folder.path)).length, 1);
  removeScrapeTarget(options);
  removeScrapeTarget(options);
  assert.deepEqual(await readdir(folder.path), []);
});

test('a folder that cannot be written ends nothing', () => {
  const options = { ...common, logDirectory: '/dev/null/nowhere' };
  writeScrapeTarget(options, { host: '127.0.0.1', port: 1 });
  removeScrapeTarget(options);
});
