import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type LogFields, silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { Gateway } from '../../../../src/instance/gateway/gateway.ts';
import { TaskStatusWriter } from '../../../../src/instance/task-status.ts';
import type { ToTask } from '../../../../src/instance/thread-channel.ts';
import { RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell, atomicsDoorbells } from '../../../../src/ring/atomics-doorbell.ts';
import { encodePacket } from '../../../../src/wire/frame.ts';
import { RegisterInstance, StatusCode } from '../../../../src/wire/messages.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ScriptedNetwork, ScriptedStream } from '../../../support/scripted-network.ts';
import { settled } from '../../../support/settled.ts';
import { anIdentity, linePlan, writeFrame } from '../../../support/task-in-test.ts';

const GRACE_MS = 5_000;

const FAILURE = {
  code: 'COMPONENT_FAILED',
  message: 'no',
  stack: 'no',
  domain: 'user',
  retryable: false,
} as const;

const PROCESS = { bootId: 'boot', pid: 1, startTicks: 7 };

/** A gateway without partners, whose task is the test. */
function aGateway(
  t: TestContext,
  { taskStack = async (): Promise<string | undefined> => 'at spin' } = {},
) {
  const clock = new ManualClock();
  const network = new ScriptedNetwork();
  const sent: ToTask[] = [];
  const errors: string[] = [];
  let kills = 0;
  const gateway = new Gateway({
    start: { identity: anIdentity('middle', 3), token: 'secret', process: PROCESS },
    topology: linePlan.topology,
    environment: {
      network,
      clock,
      random: createSeededRandom(1),
      doorbells: atomicsDoorbells,
      resourceUse: () => ({ cpuUserUs: 0, cpuSystemUs: 0, residentBytes: 0 }),
      taskStack,
      kill: () => {
        kills += 1;
      },
    },
    logger: {
      ...silentLogger,
      error: (message: string, _fields?: LogFields) => void errors.push(message),
    },
    send: (message) => void sent.push(message),
  });
  gateway.start();
  t.after(() => {
    gateway.handle({ kind: 'stopped' });
    clock.advance(GRACE_MS);
  });
  const [definition] = sent;
  assert.ok(definition?.kind === 'definition');
  const { memory } = definition;
  return {
    gateway,
    clock,
    network,
    errors,
    kinds: () => sent.map(({ kind }) => kind).filter((kind) => kind !== 'ping'),
    kills: () => kills,
    status: new TaskStatusWriter(memory.status),
    ring: new RingWriter(
      memory.dataOut,
      new AtomicsDoorbell(memory.taskBell),
      new AtomicsDoorbell(),
    ),
  };
}

describe('the end of an instance', () => {
  it('is asked of the task, and done when the task has stopped', async (t) => {
    const { gateway, clock, kinds, kills } = aGateway(t);
    gateway.stop();
    gateway.handle({ kind: 'stop' });
    assert.deepEqual(kinds(), ['definition', 'stop']);
    gateway.handle({ kind: 'stopped' });
    gateway.handle({ kind: 'stopped' });
    clock.advance(60_000);
    await settled();
    assert.deepEqual(kinds(), ['definition', 'stop', 'done']);
    assert.equal(kills(), 0);
    assert.equal(clock.pendingTimers, 0, 'nothing is left to happen');
  });

  it('waits half a second for what the task has written, when nobody takes it', (t) => {
    const { gateway, clock, kinds, ring } = aGateway(t);
    writeFrame(ring, Buffer.from('a set'));
    gateway.stop();
    gateway.handle({ kind: 'stopped' });
    clock.advance(490);
    assert.deepEqual(kinds(), ['definition', 'stop']);
    clock.advance(20);
    assert.deepEqual(kinds(), ['definition', 'stop', 'done']);
  });

  it('R7: wakes a task that waits inside emit', (t) => {
    const { gateway, clock, ring } = aGateway(t);
    gateway.stop();
    assert.equal(ring.isReaderClosed, false);
    clock.advance(500);
    assert.equal(ring.isReaderClosed, true);
  });

  it('R7: is forced on a task that is stuck, which is shown first', async (t) => {
    const { gateway, clock, kinds, kills, errors, status } = aGateway(t);
    status.enter('execute');
    gateway.stop();
    clock.advance(GRACE_MS * 0.8);
    assert.equal(kills(), 0, 'not before its stack is taken');
    await settled();
    assert.equal(kills(), 1);
    assert.deepEqual(errors, [
      "BlockedTask: execute of 'middle' (task 3) has not returned for 4.0 s; it is here:\nat spin",
    ]);
    assert.deepEqual(kinds(), ['definition', 'stop']);
  });

  it('R7: is forced although there is no stack to be had', async (t) => {
    const { gateway, clock, kills, errors, status } = aGateway(t, {
      taskStack: () => Promise.reject(new Error('no inspector')),
    });
    status.enter('execute');
    gateway.stop();
    clock.advance(GRACE_MS);
    await settled();
    assert.equal(kills(), 1);
    assert.deepEqual(errors, ['the task is blocked, and cannot be looked at: no inspector']);
  });

  it('R7: spares a task that comes to its end while it is looked at', async (t) => {
    const look = Promise.withResolvers<string>();
    const { gateway, clock, kills, status } = aGateway(t, { taskStack: () => look.promise });
    status.enter('execute');
    gateway.stop();
    clock.advance(GRACE_MS * 0.8);
    gateway.handle({ kind: 'stopped' });
    look.resolve('at spin');
    await settled();
    assert.equal(kills(), 0);
  });

  it('takes along what the task had written when it failed', async (t) => {
    const { gateway, clock, network, ring } = aGateway(t);
    const stream = new ScriptedStream();
    network.dials[0]?.accept(stream);
    const sent = async () => {
      await settled();
      clock.runSoon();
      return stream.take();
    };
    const [registration] = await sent();
    assert.ok(registration !== undefined);
    const { response } = RegisterInstance;
    const status = { status: StatusCode.OK };
    const answer = response.encode(response.create({ status, creditBytes: 1_000n }));
    stream.feed(encodePacket(response.typeName, registration.requestId, answer));
    await sent();
    writeFrame(ring, Buffer.from('a set'));
    // In the same turn: the bell has not been heard yet.
    gateway.handle({ kind: 'failed', error: FAILURE });
    const packets = await sent();
    assert.deepEqual(
      packets.map(({ payload }) => payload),
      ['a set'],
    );
  });

  it('follows at once when the task has failed', (t) => {
    const { gateway, clock, kinds } = aGateway(t);
    gateway.handle({ kind: 'failed', error: FAILURE });
    clock.runSoon();
    assert.deepEqual(kinds(), ['definition', 'done']);
  });
});
