import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { LogFileOptions } from '../../../../src/base/log-file.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { systemFiles } from '../../../../src/base/system-files.ts';
import { gatewayMain } from '../../../../src/instance/gateway/gateway-main.ts';
import type { ToGateway, ToTask } from '../../../../src/instance/thread-channel.ts';
import { encodeTopology } from '../../../../src/wire/topology.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { PromiseDoorbell } from '../../../support/promise-doorbell.ts';
import { ScriptedNetwork } from '../../../support/scripted-network.ts';
import { anIdentity, linePlan } from '../../../support/task-in-test.ts';

/** A gateway's thread on a disk with one file. */
function aThread(t: TestContext, definition: Uint8Array) {
  const sent: ToTask[] = [];
  const logs: Omit<LogFileOptions, 'clock'>[] = [];
  const beats: number[] = [];
  const clock = new ManualClock();
  let post: (message: ToGateway) => void = () => {};
  let loseParent = (): void => {};
  const gateway = gatewayMain(
    {
      start: {
        identity: anIdentity('middle', 3),
        token: 'secret',
        process: { bootId: 'boot', pid: 1, startTicks: 7 },
      },
      send: (message) => void sent.push(message),
      onMessage: (handle) => {
        post = handle;
      },
    },
    {
      clock,
      random: createSeededRandom(1),
      network: new ScriptedNetwork(),
      files: {
        ...systemFiles,
        readNow: (file) => {
          assert.equal(file, 'words.defn');
          return definition;
        },
      },
      openLog: (options) => {
        logs.push(options);
        return { ...silentLogger, dropped: 0, setLevel() {}, close() {} };
      },
      answerParent: () => {},
      startBeating: (periodMs) => void beats.push(periodMs),
      resourceUse: () => ({ cpuUserUs: 0, cpuSystemUs: 0, residentBytes: 0 }),
      doorbells: () => new PromiseDoorbell(),
      taskStack: async () => undefined,
      kill: () => assert.fail('nothing is stuck'),
      watchParent: (onGone) => {
        loseParent = onGone;
      },
    },
  );
  t.after(() => {
    post({ kind: 'stopped' });
    clock.advance(60_000);
  });
  const kinds = (): string[] => sent.map(({ kind }) => kind);
  return {
    gateway,
    sent,
    logs,
    beats,
    kinds,
    post: (m: ToGateway) => post(m),
    loseParent: () => loseParent(),
  };
}

test('the gateway gives the task the definition that lies on the disk', (t) => {
  const { gateway, sent, logs } = aThread(t, encodeTopology(linePlan.topology));
  assert.ok(gateway !== undefined);
  assert.equal(gateway.waitingBytes, 0);
  const [first] = sent;
  assert.ok(first?.kind === 'definition');
  assert.equal(first.topology.name, linePlan.topology.name);
  assert.deepEqual(
    logs.map(({ file, name }) => [file, name]),
    [['./container_1_middle_3.gateway.log', 'container_1_middle_3/gateway']],
  );
});

test('the gateway beats from its start, whatever the task is doing (O14)', (t) => {
  const { beats, kinds } = aThread(t, encodeTopology(linePlan.topology));
  assert.deepEqual(beats, [1_000]);
  assert.deepEqual(kinds(), ['definition'], 'the task has not said anything yet');
});

test('what the task says reaches the gateway', (t) => {
  const { post, kinds } = aThread(t, encodeTopology(linePlan.topology));
  post({ kind: 'stop' });
  assert.deepEqual(kinds(), ['definition', 'stop', 'ping']);
});

test('the instance stops when the process that started it is gone', (t) => {
  const { loseParent, kinds } = aThread(t, encodeTopology(linePlan.topology));
  loseParent();
  assert.deepEqual(kinds(), ['definition', 'stop', 'ping']);
});

test('a definition that cannot be read is told to the task, in place of everything', (t) => {
  const { gateway, sent } = aThread(t, Buffer.from('no topology'));
  assert.equal(gateway, undefined);
  const [only, ...others] = sent;
  assert.ok(only?.kind === 'cannot-start');
  assert.deepEqual(others, []);
  assert.equal(only.error.code, 'STATE_CORRUPTED');
  assert.match(only.error.message, /the topology definition words\.defn cannot be read: /);
});
