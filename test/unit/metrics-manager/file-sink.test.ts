import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { RotatingFile } from '../../../src/base/rotating-file.ts';
import { FileSink } from '../../../src/metrics-manager/file-sink.ts';
import { AN_EXCEPTION, aMetricsRecord, sinkCounters } from '../../support/metrics-records.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('each record is a line of JSON', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'metrics.jsonl');
  const counters = sinkCounters();
  const sink = new FileSink(new RotatingFile({ file, bytesMax: 1_000_000, filesMax: 2 }), counters);
  sink.accept(aMetricsRecord());
  sink.accept(aMetricsRecord({ metrics: [], exceptions: [AN_EXCEPTION] }));
  await sink.close();
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line): unknown => JSON.parse(line)),
    [
      {
        time: '2023-11-14T22:13:20.000Z',
        hostname: 'host-1',
        component: 'word',
        instance: 'container_1_word_1',
        metrics: { '__emit-count/default': '3' },
      },
      {
        time: '2023-11-14T22:13:20.000Z',
        hostname: 'host-1',
        component: 'word',
        instance: 'container_1_word_1',
        metrics: {},
        exceptions: [AN_EXCEPTION],
      },
    ],
  );
});

test('the disk is used within bounds', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'metrics.jsonl');
  const counters = sinkCounters();
  const sink = new FileSink(new RotatingFile({ file, bytesMax: 1_000, filesMax: 3 }), counters);
  for (let count = 0; count < 100; count += 1) sink.accept(aMetricsRecord());
  await sink.close();
  const files = (await readdir(folder.path)).toSorted();
  assert.deepEqual(files, ['metrics.jsonl', 'metrics.jsonl.1', 'metrics.jsonl.2']);
});

test('what cannot be written is counted', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'metrics.jsonl');
  const counters = sinkCounters();
  const sink = new FileSink(new RotatingFile({ file, bytesMax: 1_000, filesMax: 2 }), counters);
  await sink.close();
  sink.accept(aMetricsRecord({ exceptions: [AN_EXCEPTION] }));
  assert.equal(counters.dropped.value, 2);
});
