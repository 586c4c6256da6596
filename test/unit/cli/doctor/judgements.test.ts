import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check } from '../../../../src/cli/doctor/check.ts';
import {
  judgeClock,
  judgeDisk,
  judgePlatform,
  judgeSchedulers,
  judgeState,
} from '../../../../src/cli/doctor/judgements.ts';
import { parseStateAddress } from '../../../../src/state-manager/state-address.ts';

const MB = 1024 * 1024;
const NOW = Date.UTC(2026, 5, 1);

function expectCheck(check: Check, verdict: Check['verdict'], message: RegExp): void {
  assert.equal(check.verdict, verdict, check.message);
  assert.match(check.message, message);
  assert.equal(check.next === null, verdict === 'ok');
}

test('node', () => {
  const facts = { platform: 'linux', architecture: 'x64', engineVersion: '1.2.3' };
  const good = judgePlatform({ ...facts, nodeVersion: '24.1.0' });
  expectCheck(good, 'ok', /^heron-ts 1\.2\.3 with Node 24\.1\.0 on linux x64$/);
  expectCheck(judgePlatform({ ...facts, nodeVersion: '22.1.0' }), 'fail', /needs Node 24 or newer/);
});

test('disk: what is free, by bytes and by files', () => {
  const roomy = {
    folder: '/data',
    freeBytes: 5_000 * MB,
    totalBytes: 9_000 * MB,
    freeFiles: 9e6,
    totalFiles: 9e6,
  };
  expectCheck(judgeDisk(roomy), 'ok', /^5000 of 9000 MB are free for \/data$/);
  expectCheck(judgeDisk({ ...roomy, freeBytes: 1_999 * MB }), 'warn', /1999 of 9000/);
  expectCheck(judgeDisk({ ...roomy, freeBytes: 199 * MB }), 'fail', /199 of 9000/);
  expectCheck(judgeDisk({ ...roomy, freeFiles: 999 }), 'fail', /only 999 more files/);
  // Btrfs, say, counts none.
  expectCheck(judgeDisk({ ...roomy, freeFiles: 0, totalFiles: 0 }), 'ok', /./);
});

test('clock: against the engine, and against the file system', () => {
  expectCheck(judgeClock({ wallMs: NOW, fileMs: NOW + 4_000 }), 'ok', /2026-06-01T00:00:00/);
  expectCheck(judgeClock({ wallMs: NOW, fileMs: NOW - 90_000 }), 'warn', /are 90 s apart/);
  expectCheck(judgeClock({ wallMs: 0, fileMs: 0 }), 'fail', /1970-01-01/);
});

test('state: where it is, and how long its servers remember', () => {
  const file = { kind: 'file', folder: '/state' } as const;
  const here = judgeState({ cluster: 'local', address: file, grantedMs: undefined });
  expectCheck(here, 'ok', /^the state of local can be written and read in \/state$/);
  const address = parseStateAddress('zookeeper://a:1,b:2/heron');
  const there = judgeState({ cluster: 'zk', address, grantedMs: 30_000 });
  expectCheck(
    there,
    'ok',
    /in zookeeper:\/\/a:1,b:2\/heron; its servers keep sessions for 30000 ms$/,
  );
  const short = judgeState({ cluster: 'zk', address, grantedMs: 4_000 });
  expectCheck(short, 'warn', /for 4000 ms, not 30000$/);
});

test('schedulers: which of them are dead', () => {
  const cluster = 'local';
  expectCheck(judgeSchedulers({ cluster, running: ['a'], dead: [] }), 'ok', /topologies: 1/);
  const dead = ['a', 'b', 'c', 'd', 'e', 'f'];
  const check = judgeSchedulers({ cluster, running: [], dead });
  expectCheck(check, 'warn', /of a, b, c, d, e and 1 more$/);
});
