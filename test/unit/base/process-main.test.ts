import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { EXIT } from '../../../src/base/exit-codes.ts';
import { ProcessLife, type ProcessOptions } from '../../../src/base/process-main.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedHostProcess } from '../../support/scripted-host-process.ts';
import { settled } from '../../support/settled.ts';

/* The rules on a process of the test's own; test/component/base has them on Node's. */

function aLife(options: Partial<ProcessOptions> = {}) {
  const host = new ScriptedHostProcess();
  const clock = new ManualClock();
  const life = new ProcessLife({ name: 'heron-test', ...options }, host, clock);
  const said: string[] = [];
  return { host, clock, life, said };
}

test('a process is named, watched, and hands out what its main has made', async () => {
  const { host, life } = aLife();
  const made = await life.run(async () => 'a process');
  assert.equal(made, 'a process');
  assert.deepEqual([host.name, host.isLoaded, host.exitCodes], ['heron-test', true, []]);
});

test('P1: hooks run in order, once, whatever ends the process and how often', async () => {
  const { host, life, said } = aLife();
  await life.run((context) => {
    context.onShutdown(async (reason) => {
      await settled();
      said.push(`first ${reason}`);
      context.onShutdown(() => void said.push('added'));
    });
    context.onShutdown(() => void said.push('second'));
  });
  host.events.onSignal('SIGTERM');
  host.events.onSignal('SIGINT');
  host.endParent();
  life.stop(EXIT.unavailable);
  await settled();
  await settled();
  assert.deepEqual(said, ['first SIGTERM', 'second', 'added']);
  assert.deepEqual(host.exitCodes, [EXIT.ok]);
});

test('the end of the parent ends only a process that asks for it', async () => {
  const dependent = aLife();
  await dependent.life.run(() => {});
  dependent.host.endParent();
  await settled();
  assert.deepEqual(dependent.host.exitCodes, [EXIT.ok]);

  const independent = aLife({ endsWithParent: false });
  await independent.life.run(() => {});
  assert.ok(!independent.host.isParentWatched);
});

test('P2: after the grace time nothing is waited for, and no further hook runs', async () => {
  const { host, clock, life, said } = aLife({ graceMs: 1_000 });
  const slow = Promise.withResolvers<void>();
  await life.run((context) => {
    context.setGrace(50);
    context.onShutdown(() => slow.promise);
    context.onShutdown(() => void said.push('second'));
  });
  host.events.onSignal('SIGTERM');
  clock.advance(49);
  assert.deepEqual(host.exitCodes, []);
  clock.advance(1);
  assert.deepEqual(host.exitCodes, [EXIT.failure]);
  slow.resolve();
  await settled();
  assert.deepEqual([said, host.exitCodes], [[], [EXIT.failure]]);
});

test('an orderly end leaves no timer behind', async () => {
  const { host, clock, life } = aLife();
  await life.run(() => {});
  host.events.onSignal('SIGTERM');
  await settled();
  assert.equal(clock.pendingTimers, 0);
});

test('P3: after what nobody caught nothing else runs', async () => {
  for (const kind of ['exception', 'rejection'] as const) {
    const { host, life, said } = aLife();
    await life.run((context) => context.onShutdown(() => void said.push('hook')));
    host.events.onUncaught(kind, environmentError('PORT_IN_USE', 'port 80 is taken'));
    host.events.onSignal('SIGTERM');
    await settled();
    assert.deepEqual([said, host.exitCodes], [[], [EXIT.portInUse]]);
    assert.match(host.errors.join(''), new RegExp(`heron-test ends by an? ${kind}: port 80`));
  }
});

test('P3: a crash during the orderly end keeps the hooks that are left from running', async () => {
  const { host, life, said } = aLife();
  const first = Promise.withResolvers<void>();
  await life.run((context) => {
    context.onShutdown(() => first.promise);
    context.onShutdown(() => void said.push('second'));
  });
  host.events.onSignal('SIGTERM');
  host.events.onUncaught('exception', new Error('broken'));
  first.resolve();
  await settled();
  assert.deepEqual([said, host.exitCodes], [[], [EXIT.failure]]);
});

test('P4: an empty event loop and a foreign exit are failures', async () => {
  const idle = aLife();
  await idle.life.run(() => {});
  idle.host.events.onIdle();
  assert.deepEqual(idle.host.exitCodes, [EXIT.failure]);

  const { host, life } = aLife();
  await life.run(() => {});
  assert.equal(host.events.onForeignExit(0, new Error('here')), EXIT.userCode);
  assert.equal(host.events.onForeignExit(7, new Error('here')), 7);
  assert.match(host.errors[0] ?? '', /called process\.exit\(0\)\nError: here/);
});

test('an error out of main is told, hooks run, and there is nothing to hand out', async () => {
  const { host, life, said } = aLife();
  const made = await life.run(async (context) => {
    context.onShutdown((reason) => void said.push(reason));
    throw environmentError('PORT_IN_USE', 'port 80 is taken');
  });
  await settled();
  assert.equal(made, undefined);
  assert.deepEqual([said, host.exitCodes], [['failed'], [EXIT.portInUse]]);
  assert.match(host.errors[0] ?? '', /^heron-test cannot go on: port 80 is taken/);
});
