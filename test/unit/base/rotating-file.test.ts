import assert from 'node:assert/strict';
import fs, {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { RotatingFile } from '../../../src/base/rotating-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LINE = `${'x'.repeat(99)}\n`;

test('appends to what is there, makes the folder, and lets only the owner read', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'deep', 'er', 'log');
  for (const line of ['one\n', 'two\n']) {
    const destination = new RotatingFile({ file, bytesMax: 1000, filesMax: 2 });
    assert.equal(destination.append(line), true);
    destination.close();
  }
  assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, 'deep')).mode & 0o777, 0o700);
});

test('R2: no file grows beyond its bound and the oldest content goes', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const destination = new RotatingFile({ file, bytesMax: 1000, filesMax: 3 });
  for (let line = 0; line < 95; line += 1) destination.append(`${String(line).padEnd(99)}\n`);
  destination.close();

  assert.deepEqual(readdirSync(path).toSorted(), ['log', 'log.1', 'log.2']);
  const numbers = ['log.2', 'log.1', 'log'].flatMap((name) => {
    const text = readFileSync(join(path, name), 'utf8');
    assert.ok(text.length <= 1000);
    return text.trimEnd().split('\n').map(Number);
  });
  assert.deepEqual(
    numbers,
    Array.from({ length: 25 }, (_, index) => 70 + index),
  );
});

test('R2: a single file starts again when it is full', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const destination = new RotatingFile({ file, bytesMax: 250, filesMax: 1 });
  for (const line of ['1\n', LINE, LINE, '2\n', LINE, '3\n']) destination.append(line);
  destination.close();
  assert.deepEqual(readdirSync(path), ['log']);
  assert.equal(readFileSync(file, 'utf8'), `${LINE}3\n`);
});

test('R2: one append may be larger than the bound', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const destination = new RotatingFile({ file, bytesMax: 10, filesMax: 2 });
  destination.append(LINE);
  destination.append(LINE);
  destination.close();
  assert.deepEqual(readdirSync(path).toSorted(), ['log', 'log.1']);
  assert.equal(statSync(file).size, LINE.length);
});

for (const code of ['ENOSPC', 'EDQUOT', 'EROFS']) {
  test(`R3: a disk that is ${code} at the start is no reason not to start`, async (t) => {
    const { path } = await temporaryFolder(t);
    const file = join(path, 'deep', 'log');
    const refusal = t.mock.method(fs, 'mkdirSync', () => {
      throw Object.assign(new Error(`${code}: refused`), { code });
    });
    syncBuiltinESMExports();
    t.after(() => syncBuiltinESMExports());
    const destination = new RotatingFile({ file, bytesMax: 1000, filesMax: 2 });
    assert.equal(destination.append(LINE), false);
    assert.match(destination.lastFailure, new RegExp(code));
    refusal.mock.restore();
    syncBuiltinESMExports();
    assert.equal(destination.append(LINE), true);
    assert.equal(readFileSync(file, 'utf8'), LINE);
    destination.close();
  });
}

test('R3: a full disk loses appends, counts them, and is healed by room', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  symlinkSync('/dev/full', file);
  const destination = new RotatingFile({ file, bytesMax: 1000, filesMax: 2 });
  assert.equal(destination.append(LINE), false);
  assert.equal(destination.append(LINE), false);
  assert.equal(destination.dropped, 2);
  assert.match(destination.lastFailure, /ENOSPC/);

  rmSync(file);
  assert.equal(destination.append(LINE), true);
  assert.equal(destination.dropped, 2);
  assert.equal(readFileSync(file, 'utf8'), LINE);
  destination.close();
});

test('R3: a folder that has gone loses appends instead of throwing', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const destination = new RotatingFile({ file, bytesMax: 150, filesMax: 2 });
  destination.append(LINE);
  rmSync(path, { recursive: true });
  assert.equal(destination.append(LINE), false);
  assert.match(destination.lastFailure, /ENOENT/);
  destination.close();
});

test('R4: a line that was cut short is ended before the next one', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  writeFileSync(file, 'cut sho');
  const destination = new RotatingFile({ file, bytesMax: 1000, filesMax: 2 });
  destination.append('next\n');
  destination.close();
  assert.equal(readFileSync(file, 'utf8'), 'cut sho\nnext\n');
});

test('R5: a second writer follows a rotation by the first', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const options = { file, bytesMax: 100_000, filesMax: 2 };
  const first = new RotatingFile(options);
  const second = new RotatingFile(options);
  for (let line = 0; line < 1500; line += 1) first.append(LINE);
  assert.deepEqual(readdirSync(path).toSorted(), ['log', 'log.1']);

  for (let line = 0; line < 660; line += 1) second.append(LINE);
  second.append('last\n');
  assert.match(readFileSync(file, 'utf8'), /last\n$/);
  first.close();
  second.close();
});

test('R5: two writers together stay within the bound', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'log');
  const options = { file, bytesMax: 200_000, filesMax: 2 };
  const writers = [new RotatingFile(options), new RotatingFile(options)];
  for (let line = 0; line < 3000; line += 1) for (const writer of writers) writer.append(LINE);
  for (const name of readdirSync(path)) {
    assert.ok(statSync(join(path, name)).size <= 200_000 + 2 * 65_536, name);
  }
  for (const writer of writers) writer.close();
});

test('what is appended after close is lost, and close is idempotent', async (t) => {
  const { path } = await temporaryFolder(t);
  const destination = new RotatingFile({ file: join(path, 'log'), bytesMax: 100, filesMax: 1 });
  destination.close();
  destination.close();
  assert.equal(destination.append(LINE), false);
});

test('a file that cannot be opened is refused with its name and the reason', async (t) => {
  const { path } = await temporaryFolder(t);
  writeFileSync(join(path, 'plain'), '');
  const file = join(path, 'plain', 'log');
  assert.throws(
    () => new RotatingFile({ file, bytesMax: 100, filesMax: 1 }),
    (error) => hasCode(error, 'FILE_FAILED') && error.message.includes(file),
  );
});
