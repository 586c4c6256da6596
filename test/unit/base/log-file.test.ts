import assert from 'node:assert/strict';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { type LogFile, type LogFileOptions, openLogger } from '../../../src/base/log-file.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts';

type Line = Readonly<Record<string, unknown>>;

function open(folder: TemporaryFolder, options: Partial<LogFileOptions> = {}): LogFile {
  return openLogger({
    file: join(folder.path, 'log'),
    level: 'info',
    name: 'stmgr-1',
    clock: new ManualClock(0),
    maxBytes: 1_000_000,
    filesMax: 2,
    ...options,
  });
}

function linesOf(folder: TemporaryFolder): readonly Line[] {
  const text = readFileSync(join(folder.path, 'log'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));
}

test('a line says when, how bad, who, what, and the facts', async () => {
  await using folder = await temporaryFolder();
  const log = open(folder);
  log.warn('peer lost', { peer: 'stmgr-2', waitedMs: 5 });
  log.close();
  assert.deepEqual(linesOf(folder), [
    {
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      name: 'stmgr-1',
      message: 'peer lost',
      peer: 'stmgr-2',
      waitedMs: 5,
    },
  ]);
});

test('lines below the level are left out', async () => {
  await using folder = await temporaryFolder();
  const log = open(folder, { level: 'warn' });
  log.debug('d');
  log.info('i');
  log.warn('w');
  log.error('e');
  assert.deepEqual(
    linesOf(folder).map(({ message }) => message),
    ['w', 'e'],
  );
});

test('a child adds its fields, and its own children theirs', async () => {
  await using folder = await temporaryFolder();
  const child = open(folder).child({ peer: 'a', port: 1 }).child({ port: 2 });
  child.info('x', { tries: 3 });
  const [line] = linesOf(folder);
  assert.deepEqual([line?.['peer'], line?.['port'], line?.['tries']], ['a', 2, 3]);
});

test('no field can take the place of the time, the level, the name or the message', async () => {
  await using folder = await temporaryFolder();
  open(folder).info('mine', { time: 1, level: 1, name: 1, message: 1 });
  const [line] = linesOf(folder);
  assert.deepEqual(
    [line?.['level'], line?.['name'], line?.['message']],
    ['info', 'stmgr-1', 'mine'],
  );
});

test('an error is written with code, message, stack and cause', async () => {
  await using folder = await temporaryFolder();
  const error = environmentError('FILE_FAILED', 'cannot', { cause: new TypeError('why') });
  open(folder).error('failed', { error });
  const written = linesOf(folder)[0]?.['error'] as Line;
  assert.deepEqual([written['code'], written['message']], ['FILE_FAILED', 'cannot']);
  assert.match(String(written['stack']), /log-file\.test\.ts/);
  assert.equal((written['cause'] as Line)['message'], 'why');
});

test('L2: values that JSON does not know do not hurt', async () => {
  await using folder = await temporaryFolder();
  const log = open(folder);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  log.info('bigint', { value: 2n ** 70n });
  log.info('cycle', { cycle, port: 80 });
  log.info('throws', { value: { toJSON: () => assert.fail('no') } });
  const [bigint, cyclic, thrown] = linesOf(folder);
  assert.equal(bigint?.['value'], '1180591620717411303424');
  assert.equal(cyclic?.['port'], 80);
  assert.match(String(cyclic?.['unwritable']), /circular/);
  assert.equal(thrown?.['unwritable'], 'no');
});

test('secrets are not written, at any depth', async () => {
  await using folder = await temporaryFolder();
  open(folder).info('x', { token: 'abc', peer: { accessToken: 'abc' }, tokens: 3 });
  assert.equal(readFileSync(join(folder.path, 'log'), 'utf8').includes('abc'), false);
  assert.equal(linesOf(folder)[0]?.['tokens'], 3);
});

test('a line that is far too long keeps its head only', async () => {
  await using folder = await temporaryFolder();
  const log = open(folder);
  log.info('y'.repeat(100_000));
  log.info('short', { dump: 'y'.repeat(100_000) });
  const [long, dump] = linesOf(folder);
  assert.equal(String(long?.['message']).length, 16_384);
  assert.deepEqual(
    [dump?.['message'], dump?.['dump'], dump?.['shortened']],
    ['short', undefined, true],
  );
});

test('after a full disk the log says how many lines are missing, once', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'log');
  symlinkSync('/dev/full', file);
  const log = open(folder);
  log.info('1');
  log.info('2');
  assert.equal(log.dropped, 2);
  rmSync(file);
  log.info('3');
  log.info('4');
  const lines = linesOf(folder);
  assert.deepEqual(
    lines.map(({ message, lostLines }) => [message, lostLines]),
    [
      ['3', undefined],
      ['log lines before the last one were lost', 2],
      ['4', undefined],
    ],
  );
  assert.match(String(lines[1]?.['reason']), /ENOSPC/);
});

test('another level holds from then on, also for children', async () => {
  await using folder = await temporaryFolder();
  const log = open(folder);
  const child = log.child({ task: 1 });
  child.debug('unheard');
  log.setLevel('debug');
  child.debug('heard');
  log.setLevel('error');
  child.warn('unheard');
  log.error('heard');
  log.close();
  assert.deepEqual(
    linesOf(folder).map(({ level, message }) => [level, message]),
    [
      ['debug', 'heard'],
      ['error', 'heard'],
    ],
  );
});
