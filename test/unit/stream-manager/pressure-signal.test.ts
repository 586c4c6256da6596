import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import {
  componentName,
  streamManagerId,
  taskId,
  topologyId,
  topologyName,
} from '../../../src/base/ids.ts';
import {
  type PressureSignal,
  startMessage,
  startSignal,
  stopMessage,
  stopSignal,
} from '../../../src/stream-manager/pressure-signal.ts';
import { StartBackPressure, StopBackPressure } from '../../../src/wire/messages.ts';

const sender = {
  own: {
    topologyName: topologyName('words'),
    topologyId: topologyId('words-1'),
    token: 'secret',
    engineVersion: '1.2.3',
  },
  ownId: streamManagerId('stmgr-3'),
  messageNumber: 17,
};
const slow = { task: taskId(5), component: componentName('slow') };

describe('messages of back pressure', () => {
  it('name topology, sender, task, component and lease, and come back as they were', () => {
    const start = { kind: 'start', ...slow, leaseMs: 3_000 } as const;
    const message = startMessage(start, sender);
    const { topologyName: name, topologyId: id, stmgr, messageId } = message;
    assert.deepEqual([name, id, stmgr, messageId], ['words', 'words-1', 'stmgr-3', '17']);
    const received = StartBackPressure.decode(StartBackPressure.encode(message));
    assert.deepEqual(startSignal(received), start);
    const stop: PressureSignal = { kind: 'stop', ...slow };
    const stopped = StopBackPressure.decode(StopBackPressure.encode(stopMessage(stop, sender)));
    assert.deepEqual(stopSignal(stopped), stop);
  });

  it("are understood as Heron's stream managers send them (R12)", () => {
    const fields = {
      topologyName: 'words',
      topologyId: 'words-1',
      stmgr: 'stmgr-9',
      messageId: '',
    };
    const start = StartBackPressure.encode(StartBackPressure.create(fields));
    assert.deepEqual(startSignal(StartBackPressure.decode(start)), {
      kind: 'start',
      task: undefined,
      component: undefined,
      leaseMs: undefined,
    });
    const stop = StopBackPressure.encode(StopBackPressure.create(fields));
    assert.deepEqual(stopSignal(StopBackPressure.decode(stop)), {
      kind: 'stop',
      task: undefined,
      component: undefined,
    });
  });

  it('have a lease that a timer can wait for', () => {
    const withLease = (leaseMs: bigint) =>
      startSignal({ ...startMessage({ kind: 'start', ...slow, leaseMs: 1 }, sender), leaseMs });
    const longest = withLease(2n ** 62n);
    assert.equal(longest.kind === 'start' && longest.leaseMs, 2 ** 31 - 1);
    for (const leaseMs of [0n, -1n]) {
      assert.throws(
        () => withLease(leaseMs),
        (error) => hasCode(error, 'UNEXPECTED_MESSAGE'),
      );
    }
  });
});
