import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { containerId } from '../../../src/base/ids.ts';
import { LogReader } from '../../../src/cli/logs/log-reader.ts';
import { ShellLogs } from '../../../src/cli/logs/shell-logs.ts';
import { FolderShell } from '../../support/logs-under-test.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* Containers that do not answer (H2); what they answer with is in log-reader.test.ts. */

const LINE = `${JSON.stringify({ time: '2026-01-31T10:00:00.000Z', message: 'hello' })}\n`;

/** One that answers only while it is there. */
class FickleShell extends FolderShell {
  isThere = true;
  breaksOff = false;

  override async fileStats() {
    if (!this.isThere) throw environmentError('CONNECTION_LOST', 'gone', { retryable: true });
    return super.fileStats();
  }

  override async download(...args: Parameters<FolderShell['download']>) {
    if (!this.breaksOff) return super.download(...args);
    return new ReadableStream<Uint8Array>({
      start: (stream) => {
        stream.enqueue(new TextEncoder().encode(LINE.slice(0, 10)));
        stream.error(new TypeError('terminated'));
      },
    });
  }
}

async function twoContainers(t: TestContext, patienceMs: number) {
  const clock = new ManualClock();
  const said: string[] = [];
  const logs = new ShellLogs({
    clock,
    patienceMs,
    onSilent: ({ container, host }, reason) => said.push(`${container} on ${host}: ${reason}`),
  });
  const containers = await Promise.all(
    [1, 2].map(async (number) => {
      const { path } = await temporaryFolder(t);
      await writeFile(join(path, `stmgr-${number}.log`), LINE);
      const shell = new FickleShell(path);
      return { container: containerId(number), host: `127.0.0.${number}`, shell };
    }),
  );
  const reader = new LogReader();
  const look = async (): Promise<readonly number[]> => {
    const files = await logs.list(containers);
    const options = { isFinal: false, nowMs: Date.parse('2026-01-31T11:00:00Z') };
    const lines = await Array.fromAsync(reader.look(files, options));
    return lines.map(({ container }) => container);
  };
  const shells = containers.map(({ shell }) => shell);
  return { clock, said, look, reader, first: shells[0], second: shells[1] };
}

test('a container that is silent costs its own lines, for as long as it is', async (t) => {
  const { said, look, first } = await twoContainers(t, 0);
  assert.ok(first !== undefined);
  first.isThere = false;
  assert.deepEqual(await look(), [2]);
  assert.deepEqual(await look(), []);
  assert.deepEqual(said, ['1 on 127.0.0.1: gone'], 'it is said once');
  first.isThere = true;
  assert.deepEqual(await look(), [1]);
});

test('a silence that is short is no news', async (t) => {
  const { clock, said, look, first } = await twoContainers(t, 3_000);
  assert.ok(first !== undefined);
  first.isThere = false;
  await look();
  clock.advance(2_999);
  await look();
  assert.deepEqual(said, []);
  clock.advance(1);
  await look();
  assert.deepEqual(said, ['1 on 127.0.0.1: gone']);
});

test('an answer that breaks off is asked for again, and nothing counts as gone', async (t) => {
  const { said, look, reader, second } = await twoContainers(t, 0);
  assert.ok(second !== undefined);
  second.breaksOff = true;
  assert.deepEqual(await look(), [1]);
  assert.deepEqual(said, ['2 on 127.0.0.2: terminated']);
  second.breaksOff = false;
  assert.deepEqual(await look(), [2]);
  assert.deepEqual([...reader.gone], []);
});
