import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Files } from '../../../src/base/files.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { lastBeatMs, makeBeatFile, startFileBeat } from '../../../src/supervision/beat-file.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Warnings are written down; `changes` stand in for a disk that does not do its work. */
async function aFolder(t: TestContext, changes: Partial<Files> = {}) {
  const { path: folder } = await temporaryFolder(t);
  const clock = new ManualClock();
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const options = { files: { ...systemFiles, ...changes }, clock, logger, folder };
  /** Waits for the beat of this moment. */
  const beaten = async (): Promise<void> => {
    const dateMs = clock.wallNow();
    await eventually(
      async () => Math.abs(((await lastBeatMs(systemFiles, folder)) ?? 0) - dateMs) < 1,
    );
  };
  return { folder, clock, warnings, options, beaten };
}

function failing(code: string): Partial<Files> {
  return {
    date: async () => {
      throw Object.assign(new Error(code), { code });
    },
  };
}

test('each beat is another date: at once, and then four times in the limit', async (t) => {
  const { clock, options, beaten } = await aFolder(t);
  makeBeatFile(options);
  const beat = startFileBeat(options, 4_000);
  await beaten();
  clock.advance(1_000);
  await beaten();
  clock.stepWall(-3_600_000);
  clock.advance(1_000);
  await beaten();
  beat.cancel();
  assert.equal(clock.pendingTimers, 0);
});

test('beats are no more frequent than a long limit needs', async (t) => {
  const { clock, options, beaten, folder } = await aFolder(t);
  makeBeatFile(options);
  startFileBeat(options, 600_000);
  await beaten();
  const first = await lastBeatMs(systemFiles, folder);
  clock.advance(4_999);
  assert.equal(await lastBeatMs(systemFiles, folder), first);
  clock.advance(1);
  await beaten();
});

test('a file that is not there, or has gone, is made again', async (t) => {
  const { clock, options, beaten, folder } = await aFolder(t);
  assert.equal(await lastBeatMs(systemFiles, folder), undefined);
  startFileBeat(options, 4_000);
  const file = join(folder, 'executor.beat');
  await eventually(() => existsSync(file));
  rmSync(file);
  clock.advance(1_000);
  await eventually(() => existsSync(file));
  clock.advance(1_000);
  await beaten();
});

test('a disk that refuses beats is told of once, and ends nobody', async (t) => {
  const { clock, options, warnings } = await aFolder(t, failing('EROFS'));
  startFileBeat(options, 4_000);
  for (let beat = 0; beat < 5; beat += 1) {
    await eventually(() => warnings.length === 1);
    clock.advance(1_000);
  }
  assert.deepEqual(warnings, ['cannot beat']);
});

test('a file for which there is no room is told of', async (t) => {
  const { options, warnings } = await aFolder(t, {
    writeNow: () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    },
  });
  makeBeatFile(options);
  assert.deepEqual(warnings, ['there is no file to beat with']);
});

test('while one beat hangs there is no other', async (t) => {
  let dated = 0;
  const { clock, options } = await aFolder(t, {
    date: () => {
      dated += 1;
      return new Promise(() => {});
    },
  });
  startFileBeat(options, 4_000);
  clock.advance(60_000);
  assert.equal(dated, 1);
});
