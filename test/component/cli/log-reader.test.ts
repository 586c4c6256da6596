import assert from 'node:assert/strict';
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { RotatingFile } from '../../../src/base/rotating-file.ts';
import type { LogFile } from '../../../src/cli/logs/log-files.ts';
import type { LogLine } from '../../../src/cli/logs/log-line.ts';
import { LogReader } from '../../../src/cli/logs/log-reader.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { FOLDERS_OF_LOGS, type LogsUnderTest } from '../../support/logs-under-test.ts';

/* Log files as processes write, rotate and leave them: on this machine, and behind a shell. */

const SECOND_0 = Date.parse('2026-01-31T10:00:00.000Z');
const LATER = SECOND_0 + 3_600_000;

function line(second: number, message: string): string {
  const time = new Date(SECOND_0 + second * 1_000).toISOString();
  return `${JSON.stringify({ time, level: 'info', name: 'p', message })}\n`;
}

interface Look {
  readonly at?: string;
  readonly isFinal?: boolean;
  readonly nowMs?: number;
}

async function aFolder(t: TestContext, open: () => LogsUnderTest) {
  const { path } = await temporaryFolder(t);
  const logs = open();
  t.after(() => logs.close());
  const reader = new LogReader();
  const write = (name: string, text: string): Promise<void> => appendFile(join(path, name), text);
  const look = async ({ at = path, isFinal = false, nowMs = LATER }: Look = {}) => {
    const files = await logs.list(at);
    return messages(await Array.fromAsync(reader.look(files, { isFinal, nowMs })));
  };
  const tail = async (count: number, isWanted: (line: LogLine) => boolean = () => true) => {
    const options = { isFinal: false, nowMs: LATER, sinceMs: undefined, count, isWanted };
    return messages(await Array.fromAsync(reader.tail(await logs.list(path), options)));
  };
  return { path, reader, logs, write, look, tail };
}

function messages(lines: readonly LogLine[]): readonly string[] {
  return lines.map(({ message }) => message);
}

for (const [where, open] of FOLDERS_OF_LOGS) {
  describe(`log files ${where}`, () => {
    test('each line is read once, those of one look in the order of time', async (t) => {
      const { write, look } = await aFolder(t, open);
      await write('a.log', line(1, 'a1') + line(4, 'a4'));
      await write('b.log', line(2, 'b2') + line(3, 'b3'));
      await write('b-metrics.jsonl', line(2, 'no log'));
      assert.deepEqual(await look(), ['a1', 'b2', 'b3', 'a4']);
      assert.deepEqual(await look(), []);
      await write('b.log', line(5, 'b5'));
      assert.deepEqual(await look(), ['b5']);
    });

    test('what was written after the moment of a look waits for the next one', async (t) => {
      const { write, look } = await aFolder(t, open);
      await write('a.log', line(1, 'a1') + line(3, 'a3'));
      assert.deepEqual(await look({ nowMs: SECOND_0 + 2_000 }), ['a1']);
      await write('b.log', line(2, 'b2'));
      assert.deepEqual(await look({ nowMs: SECOND_0 + 4_000 }), ['b2', 'a3']);
    });

    test('a line of a clock that is far ahead is not waited for', async (t) => {
      const { write, look } = await aFolder(t, open);
      await write('a.log', line(30, 'from the future') + line(1, 'a1'));
      assert.deepEqual(await look({ nowMs: SECOND_0 + 2_000 }), ['from the future', 'a1']);
    });

    test('a line is read when it is complete, or when nobody will complete it', async (t) => {
      const { write, look } = await aFolder(t, open);
      const whole = line(1, 'whole');
      await write('a.log', whole.slice(0, 30));
      assert.deepEqual(await look(), []);
      await write('a.log', whole.slice(30));
      await write('a.out', 'last words');
      assert.deepEqual(await look(), ['whole']);
      assert.deepEqual(await look({ isFinal: true }), ['last words']);
    });

    test('a rotation between two looks loses nothing and repeats nothing', async (t) => {
      const { path, write, look } = await aFolder(t, open);
      await write('a.log', line(1, 'one'));
      assert.deepEqual(await look(), ['one']);
      await write('a.log', line(2, 'two'));
      await rename(join(path, 'a.log'), join(path, 'a.log.1'));
      await write('a.log', line(3, 'three'));
      assert.deepEqual(await look(), ['two', 'three']);
    });

    test('a rotation between listing and reading neither', async (t) => {
      const { path, reader, logs, write, look } = await aFolder(t, open);
      await write('a.log', line(1, 'one'));
      const files = await logs.list(path);
      await rename(join(path, 'a.log'), join(path, 'a.log.1'));
      await write('a.log', line(2, 'another, as long') + line(3, 'three'));
      const options = { isFinal: false, nowMs: LATER };
      assert.deepEqual(messages(await Array.fromAsync(reader.look(files, options))), ['one']);
      assert.deepEqual(await look(), ['another, as long', 'three']);
      assert.deepEqual([...reader.gone], []);
    });

    test('files that were rotated before the first look come oldest first', async (t) => {
      const { path, look } = await aFolder(t, open);
      for (const [name, second] of Object.entries({
        'a.log.2': 1,
        'a.log.10': 0,
        'a.log.1': 2,
        'a.log': 3,
      })) {
        await writeFile(join(path, name), line(second, name));
      }
      assert.deepEqual(await look(), ['a.log.10', 'a.log.2', 'a.log.1', 'a.log']);
    });

    test('long files are read in pieces, with letters that lie across them', async (t) => {
      const { write, look } = await aFolder(t, open);
      const count = 20_000;
      const text = Array.from({ length: count }, (_, n) => line(n % 60, `ñ${n}`)).join('');
      await write('a.log', text);
      const found = await look();
      assert.equal(found.length, count);
      assert.ok(found.every((message, n) => message === `ñ${n}`));
    });

    test('a line that is longer than any buffer is cut between letters, not lost', async (t) => {
      const { write, look } = await aFolder(t, open);
      const long = 'ñ'.repeat(1_500_000);
      await write('a.out', `x${long}\nnext\n`);
      const found = await look();
      assert.equal(found.slice(0, -1).join(''), `x${long}`);
      assert.equal(found.at(-1), 'next');
      assert.ok(found.length > 2);
    });

    test('the last lines are the last of all files, and what comes follows them', async (t) => {
      const { path, write, look, tail } = await aFolder(t, open);
      await write('a.log', line(1, 'a1') + line(2, 'a2'));
      await rename(join(path, 'a.log'), join(path, 'a.log.1'));
      await write('a.log', line(5, 'a5') + line(7, 'a7').slice(0, 20));
      await write('b.log', line(3, 'b3') + line(6, 'b6'));
      assert.deepEqual(await tail(4), ['a2', 'b3', 'a5', 'b6']);
      await write('a.log', line(7, 'a7').slice(20));
      assert.deepEqual(await look(), ['a7']);
    });

    test('the last wanted lines are looked for behind others', async (t) => {
      const { write, tail } = await aFolder(t, open);
      const others = Array.from({ length: 10_000 }, (_, n) => line(2, `noise ${n}`)).join('');
      await write('a.log', line(0, 'old') + line(1, 'wanted') + others);
      assert.deepEqual(await tail(2, ({ message }) => !message.startsWith('noise')), [
        'old',
        'wanted',
      ]);
      const { write: writeMore, look, tail: none } = await aFolder(t, open);
      await writeMore('a.log', line(1, 'before'));
      assert.deepEqual(await none(0), []);
      await writeMore('a.log', line(2, 'after'));
      assert.deepEqual(await look(), ['after']);
    });

    test('a writer that rotates at full speed is followed without loss', async (t) => {
      const { path, reader, look } = await aFolder(t, open);
      const file = join(path, 'a.log');
      const writer = new RotatingFile({ file, bytesMax: 1_000_000, filesMax: 6 });
      t.after(() => writer.close());
      const found: string[] = [];
      for (let batch = 0; batch < 40; batch += 1) {
        // Half a megabyte between two looks, and so a rotation at every other one.
        for (let n = 0; n < 2_500; n += 1) {
          writer.append(line(batch, `${batch * 2_500 + n} ${'x'.repeat(120)}`));
        }
        found.push(...(await look()));
      }
      assert.equal(found.length, 100_000);
      assert.ok(found.every((message, n) => message.startsWith(`${n} `)));
      assert.deepEqual([...reader.gone], []);
    });
  });
}

describe('log files on this machine', () => {
  const [[, open]] = FOLDERS_OF_LOGS;

  test('a folder that is moved away is read on from where it was', async (t) => {
    const { path, write, look } = await aFolder(t, open);
    await mkdir(join(path, 'logs'));
    await write('logs/a.log', line(1, 'one'));
    assert.deepEqual(await look({ at: join(path, 'logs') }), ['one']);
    await write('logs/a.log', line(2, 'two'));
    await rename(join(path, 'logs'), join(path, 'kept'));
    // It is held open, so it need not even be found.
    assert.deepEqual(await look({ at: join(path, 'logs') }), ['two']);
    await write('kept/a.log', line(3, 'three'));
    assert.deepEqual(await look({ at: join(path, 'kept'), isFinal: true }), ['three']);
  });

  test('a file that was rotated away is read to its end', async (t) => {
    const { path, reader, write, look } = await aFolder(t, open);
    await write('a.log', line(1, 'one'));
    assert.deepEqual(await look(), ['one']);
    await write('a.log', line(2, 'two'));
    await rm(join(path, 'a.log'));
    await write('a.log', line(3, 'three'));
    assert.deepEqual(await look(), ['two', 'three']);
    assert.deepEqual(await look(), []);
    assert.deepEqual([...reader.gone], []);
  });
});

test('a number that was given out again is another file, however large it is', async () => {
  const reader = new LogReader();
  const look = async (text: string, age: number): Promise<readonly string[]> => {
    const bytes = Buffer.from(text);
    const file: LogFile = {
      key: '1/a.log',
      identity: '1:17',
      container: 1,
      process: 'a',
      kind: 'log',
      writtenAtMs: LATER,
      bytes: bytes.length,
      chunkBytes: 1_000,
      age,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
    };
    const lines = reader.look([file], { isFinal: false, nowMs: LATER });
    return messages(await Array.fromAsync(lines));
  };
  assert.deepEqual(await look(line(1, 'one'), 1), ['one']);
  assert.deepEqual(await look(line(1, 'one'), 2), []);
  assert.deepEqual(await look(line(2, 'two, longer'), 0), ['two, longer']);
  assert.deepEqual(await look(line(3, '3'), 0), ['3'], 'a smaller one is another one, too');
});

test('what nobody can read any more is told', async (t) => {
  const { path } = await temporaryFolder(t);
  const [, [, open]] = FOLDERS_OF_LOGS;
  const logs = open();
  await writeFile(join(path, 'a.log'), line(1, 'one'));
  const files = await logs.list(path);
  await rm(join(path, 'a.log'));
  const reader = new LogReader();
  const lines = await Array.fromAsync(reader.look(files, { isFinal: true, nowMs: LATER }));
  assert.deepEqual([lines, [...reader.gone]], [[], ['1/a.log']]);
});
