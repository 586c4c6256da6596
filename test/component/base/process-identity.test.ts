import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { systemProcessIdentities } from '../../../src/base/process-identities.ts';
import { parseIdentity } from '../../../src/base/process-identity.ts';
import { eventually } from '../../support/eventually.ts';

const processes = systemProcessIdentities;

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
    assert.equal(processes.own().pid, process.pid);
    assert.ok(processes.isAlive(processes.own()));
    assert.deepEqual(processes.identityOf(process.pid), processes.own());
  });

  it('is dead once the process has ended', async (t) => {
    const child = start(t, 'sleep', ['1000']);
    const identity = processes.identityOf(child.pid ?? 0);
    assert.ok(identity !== undefined && processes.isAlive(identity));
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(processes.isAlive(identity), false);
    assert.equal(processes.identityOf(identity.pid), undefined);
  });

  it('is dead once the process was killed, though its parent never asks', async (t) => {
    const parent = start(t, 'sh', ['-c', 'sleep 1000 >&2 & echo $!; kill -STOP $$']);
    const pid = Number(await firstLine(parent));
    const identity = processes.identityOf(pid);
    assert.ok(identity !== undefined);
    await eventually(async () =>
      assert.match(await readFile(`/proc/${parent.pid}/stat`, 'utf8'), / T /),
    );
    process.kill(pid, 'SIGKILL');
    await eventually(() => assert.equal(processes.isAlive(identity), false));
    assert.match(await readFile(`/proc/${pid}/stat`, 'utf8'), / Z /);
  });

  it('is alive while the process is stopped', async (t) => {
    const child = start(t, 'sleep', ['1000']);
    const identity = processes.identityOf(child.pid ?? 0);
    child.kill('SIGSTOP');
    await eventually(async () =>
      assert.match(await readFile(`/proc/${child.pid}/stat`, 'utf8'), / T /),
    );
    assert.ok(identity !== undefined && processes.isAlive(identity));
  });

  it('is found behind a name with spaces and parentheses', async (t) => {
    const script = `
      process.title = 'a) Z (b 1';
      process.stdout.write('ready');
      setInterval(() => {}, 1e6);`;
    const child = start(t, process.execPath, ['-e', script]);
    await firstLine(child);
    const identity = processes.identityOf(child.pid ?? 0);
    assert.ok(identity !== undefined && processes.isAlive(identity));
    assert.ok(identity.startTicks >= processes.own().startTicks);
  });

  it('is another one after the pid was used again, or the machine started again', () => {
    assert.equal(processes.isAlive({ ...processes.own(), startTicks: 1 }), false);
    assert.equal(processes.isAlive({ ...processes.own(), bootId: 'another boot' }), false);
    assert.equal(processes.isAlive({ ...processes.own(), pid: 2 ** 22 + 1 }), false);
  });

  it('comes back from JSON, and nothing else does', () => {
    assert.deepEqual(parseIdentity(JSON.parse(JSON.stringify(processes.own()))), processes.own());
    const broken = [
      null,
      1,
      'x',
      [],
      {},
      { ...processes.own(), pid: 0 },
      { ...processes.own(), pid: -1 },
    ];
    for (const value of [...broken, { ...processes.own(), startTicks: '1' }]) {
      assert.equal(parseIdentity(value), undefined);
    }
  });
});
