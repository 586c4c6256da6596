import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import {
  identityOf,
  isAlive,
  ownIdentity,
  parseIdentity,
} from '../../../src/base/process-identity.ts';
import { eventually } from '../../support/eventually.ts';

function start(t: TestContext, command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [chunk] = await once(child.stdout, 'data');
  return String(chunk).trim();
}

describe('the identity of a process', () => {
  it('is alive for the process that asks', () => {
    assert.equal(ownIdentity().pid, process.pid);
    assert.ok(isAlive(ownIdentity()));
    assert.deepEqual(identityOf(process.pid), ownIdentity());
  });

  it('is dead once the process has ended', async (t) => {
    const child = start(t, 'sleep', ['1000']);
    const identity = identityOf(child.pid ?? 0);
    assert.ok(identity !== undefined && isAlive(identity));
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(isAlive(identity), false);
    assert.equal(identityOf(identity.pid), undefined);
  });

  it('is dead once the process was killed, though its parent never asks', async (t) => {
    const parent = start(t, 'sh', ['-c', 'sleep 1000 >&2 & echo $!; kill -STOP $$']);
    const pid = Number(await firstLine(parent));
    const identity = identityOf(pid);
    assert.ok(identity !== undefined);
    await eventually(async () =>
      assert.match(await readFile(`/proc/${parent.pid}/stat`, 'utf8'), / T /),
    );
    process.kill(pid, 'SIGKILL');
    await eventually(() => assert.equal(isAlive(identity), false));
    assert.match(await readFile(`/proc/${pid}/stat`, 'utf8'), / Z /);
  });

  it('is alive while the process is stopped', async (t) => {
    const child = start(t, 'sleep', ['1000']);
    const identity = identityOf(child.pid ?? 0);
    child.kill('SIGSTOP');
    await eventually(async () =>
      assert.match(await readFile(`/proc/${child.pid}/stat`, 'utf8'), / T /),
    );
    assert.ok(identity !== undefined && isAlive(identity));
  });

  it('is found behind a name with spaces and parentheses', async (t) => {
    const script = `
      process.title = 'a) Z (b 1';
      process.stdout.write('ready');
      setInterval(() => {}, 1e6);`;
    const child = start(t, process.execPath, ['-e', script]);
    await firstLine(child);
    const identity = identityOf(child.pid ?? 0);
    assert.ok(identity !== undefined && isAlive(identity));
    assert.ok(identity.startTicks >= ownIdentity().startTicks);
  });

  it('is another one after the pid was used again, or the machine started again', () => {
    assert.equal(isAlive({ ...ownIdentity(), startTicks: 1 }), false);
    assert.equal(isAlive({ ...ownIdentity(), bootId: 'another boot' }), false);
    assert.equal(isAlive({ ...ownIdentity(), pid: 2 ** 22 + 1 }), false);
  });

  it('comes back from JSON, and nothing else does', () => {
    assert.deepEqual(parseIdentity(JSON.parse(JSON.stringify(ownIdentity()))), ownIdentity());
    const broken = [
      null,
      1,
      'x',
      [],
      {},
      { ...ownIdentity(), pid: 0 },
      { ...ownIdentity(), pid: -1 },
    ];
    for (const value of [...broken, { ...ownIdentity(), startTicks: '1' }]) {
      assert.equal(parseIdentity(value), undefined);
    }
  });
});
