import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileFacts, Files, FileWatchEvents } from '../../../../src/base/files.ts';
import { SourceWatch } from '../../../../src/cli/dev/source-watch.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';

const TOPOLOGY = '/app/topology.ts';
const COUNT = '/app/lib/count.ts';

function watchOf() {
  const clock = new ManualClock();
  const folders = new Map<string, FileWatchEvents>();
  const saved = new Map<string, number>([
    [TOPOLOGY, 1],
    [COUNT, 1],
  ]);
  const changed: string[] = [];
  const files: Pick<Files, 'watch' | 'facts'> = {
    watch(folder, events) {
      folders.set(folder, events);
      return { close: () => void folders.delete(folder) };
    },
    facts: (file): Promise<FileFacts> => {
      const modifiedAtMs = saved.get(file);
      if (modifiedAtMs === undefined) return Promise.reject(new Error(`${file} is not there`));
      return Promise.resolve({ isFolder: false, bytes: 1, inode: 1, modifiedAtMs });
    },
  };
  const watch = new SourceWatch({ files, clock, onChange: (file) => changed.push(file) });
  const pass = async (ms: number): Promise<void> => {
    await settled();
    clock.advance(ms);
    await settled();
  };
  return { watch, folders, saved, changed, pass };
}

test('a burst of changes of a source is told once, soon', async () => {
  const { watch, folders, saved, changed, pass } = watchOf();
  await watch.watch([TOPOLOGY, COUNT, '/app/node_modules/x/index.js']);
  assert.deepEqual([...folders.keys()].toSorted(), ['/app', '/app/lib']);
  saved.set(COUNT, 2);
  folders.get('/app/lib')?.onChange('count.ts');
  await pass(99);
  saved.set(COUNT, 3);
  folders.get('/app/lib')?.onChange('count.ts');
  await pass(99);
  assert.deepEqual(changed, []);
  await pass(1);
  assert.deepEqual(changed, [COUNT]);
  await pass(2_000);
  assert.deepEqual(changed, [COUNT]);
});

test('an event says nothing by itself, and a change is found without one', async () => {
  const { watch, folders, saved, changed, pass } = watchOf();
  await watch.watch([TOPOLOGY]);
  folders.get('/app')?.onChange('notes.txt');
  folders.get('/app')?.onChange(undefined);
  await pass(400);
  assert.deepEqual(changed, []);
  folders.get('/app')?.onLost(new Error('no events any more'));
  saved.set(TOPOLOGY, 2);
  await pass(100);
  await pass(100);
  assert.deepEqual(changed, [TOPOLOGY]);
});

test('a change between two lists of sources is not missed', async () => {
  const { watch, saved, changed, pass } = watchOf();
  await watch.watch([TOPOLOGY]);
  saved.set(TOPOLOGY, 2);
  await watch.watch([TOPOLOGY, COUNT]);
  await pass(500);
  await pass(100);
  assert.deepEqual(changed, [TOPOLOGY]);
});

test('a file that is gone has changed; after the end nothing is watched', async () => {
  const { watch, folders, saved, changed, pass } = watchOf();
  await watch.watch([TOPOLOGY, COUNT]);
  saved.delete(COUNT);
  await pass(500);
  await pass(100);
  assert.deepEqual(changed, [COUNT]);
  saved.delete(TOPOLOGY);
  watch[Symbol.dispose]();
  await pass(2_000);
  assert.deepEqual([folders.size, changed], [0, [COUNT]]);
});
