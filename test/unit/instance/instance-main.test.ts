import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError } from '../../../src/base/assert.ts';
import { environmentError } from '../../../src/base/errors.ts';
import { EXIT } from '../../../src/base/exit-codes.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { ProcessContext, StopReason } from '../../../src/base/process-main.ts';
import type { GatewayThreadEvents } from '../../../src/instance/instance-environment.ts';
import { instanceMain, instanceOptions } from '../../../src/instance/instance-main.ts';
import type { GatewayStart, ToGateway } from '../../../src/instance/thread-channel.ts';
import type { LoadOptions } from '../../../src/package/load-module.ts';
import { systemEnvironment } from '../../../src/process-start/system-environment.ts';
import { GatewayPorts } from '../../../src/instance/gateway/gateway-ports.ts';
import { Settings } from '../../../src/model/settings.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { PromiseDoorbell } from '../../support/promise-doorbell.ts';
import { settled } from '../../support/settled.ts';
import { argumentsOf, blockingRoomWait, linePlan } from '../../support/task-in-test.ts';

const PROCESS = { bootId: 'boot', pid: 1, startTicks: 7 };

/** An instance whose gateway, and whose process, is the test. */
async function anInstance() {
  const posted: ToGateway[] = [];
  const happened: string[] = [];
  const hooks: ((reason: StopReason) => void | Promise<void>)[] = [];
  const started: { start: GatewayStart; events: GatewayThreadEvents }[] = [];
  const loads: { file: string; options: LoadOptions }[] = [];
  const context: ProcessContext = {
    logTo() {},
    onShutdown: (hook) => void hooks.push(hook),
    setGrace: (graceMs) => void happened.push(`grace ${graceMs}`),
    stop: () => void happened.push('stop'),
    fail: (error) => void happened.push(`fail: ${String(error)}`),
  };
  const instance = await instanceMain(context, {
    ...systemEnvironment(),
    arguments: argumentsOf('middle', 3),
    variables: { HERON_TOKEN: 'secret' },
    workingDirectory: '/container',
    clock: new ManualClock(),
    openLog: ({ file }) => {
      happened.push(`log ${file}`);
      return { ...silentLogger, dropped: 0, setLevel() {}, close() {} };
    },
    sayReady: () => void happened.push('ready'),
    doorbells: () => new PromiseDoorbell(),
    process: PROCESS,
    roomWait: blockingRoomWait,
    startGateway: (start, events) => {
      started.push({ start, events });
      return {
        post: (message) => void posted.push(message),
        terminate: async () => void happened.push('terminated'),
      };
    },
    loadTopology: async (file, options) => {
      loads.push({ file, options });
      throw new Error('the module is not there');
    },
  });
  const [gateway] = started;
  const [hook] = hooks;
  assert.ok(gateway !== undefined && hook !== undefined);
  return { instance, gateway, hook, posted, happened, loads };
}

test('an instance begins with its log and its gateway, and gives it the token', async () => {
  const { instance, gateway, happened } = await anInstance();
  assert.deepEqual(happened, ['log ./container_1_middle_3.log']);
  assert.deepEqual(gateway.start, {
    identity: instance.identity,
    token: 'secret',
    process: PROCESS,
  });
  assert.equal(instance.task.at, 'awaiting-plan');
  assert.equal(instance.task.keptBytes, 0);
});

test('the module is loaded from the folder of the process', async () => {
  const { gateway, happened, loads, posted } = await anInstance();
  const config = new Map([['heron.shutdown.grace.ms', '7000']]);
  const module = { file: 'topology.js', arguments: ['fast'] };
  const { memory } = new GatewayPorts(new Settings(), () => new PromiseDoorbell());
  const topology = { ...linePlan.topology, config, module };
  gateway.events.onMessage({ kind: 'definition', topology, memory });
  await settled();
  assert.deepEqual(loads, [
    { file: '/container/topology.js', options: { name: topology.name, args: ['fast'], config } },
  ]);
  assert.ok(happened.includes('grace 7000'));
  assert.deepEqual(
    posted.map(({ kind }) => kind),
    ['failed'],
  );
  assert.equal(happened.at(-1), 'fail: Error: the module is not there');
});

test('its end waits for the gateway, which it has told', async () => {
  const { gateway, hook, happened, posted } = await anInstance();
  const ended = hook('SIGTERM');
  await settled();
  assert.deepEqual(posted, [{ kind: 'stop' }]);
  assert.equal(happened.includes('terminated'), false);
  gateway.events.onMessage({ kind: 'done' });
  await ended;
  assert.deepEqual(happened.slice(1), ['stop', 'terminated']);
});

test('a gateway that is gone is not waited for; one that failed fails the process', async () => {
  const { gateway, hook, happened, posted } = await anInstance();
  gateway.events.onError(new Error('a defect'));
  gateway.events.onExit();
  await hook('failed');
  assert.deepEqual(posted, [], 'a task that has failed has said so itself');
  assert.deepEqual(happened.slice(1), ['fail: Error: a defect', 'terminated']);
});

test('the exit code says whose failure it was', () => {
  const { exitCodeOf } = instanceOptions;
  assert.equal(exitCodeOf?.(new AssertionError('ours')), EXIT.failure);
  assert.equal(exitCodeOf?.(new TypeError('theirs')), EXIT.userCode);
  const outside = environmentError('STATE_UNAVAILABLE', 'the disk is gone');
  assert.notEqual(exitCodeOf?.(outside), EXIT.userCode);
});
