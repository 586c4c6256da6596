import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockingRoomWait } from '../../../../src/instance/task/room-wait.ts';
import {
  createTaskStatusMemory,
  TaskStatusReader,
  TaskStatusWriter,
} from '../../../../src/instance/task-status.ts';
import {
  closeRingReader,
  createRingMemory,
  NO_ROOM,
  RingWriter,
} from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';

function aWait({ isFull = false } = {}) {
  const memory = createRingMemory(64 * 1024);
  const bell = new AtomicsDoorbell();
  const ring = new RingWriter(memory, bell, new AtomicsDoorbell());
  if (isFull) fill(ring);
  const statusMemory = createTaskStatusMemory();
  const status = new TaskStatusWriter(statusMemory);
  status.enter('execute');
  const wait = new BlockingRoomWait(ring, status);
  return { wait, gateway: new TaskStatusReader(statusMemory), memory, bell };
}

function fill(ring: RingWriter): void {
  const frameBytes = 10_000;
  for (let at = ring.reserve(frameBytes); at !== NO_ROOM; at = ring.reserve(frameBytes)) {
    ring.commit(at, at + frameBytes);
  }
}

test('a wait for room that is there is over at once, and user code goes on', () => {
  const { wait, gateway } = aWait();
  const { progress } = gateway;
  wait.wait(10_000);
  assert.equal(gateway.activity, 'user-code');
  assert.notEqual(gateway.progress, progress, 'it has moved');
});

test('R7: a wait ends with an error when nobody will make room any more', () => {
  const { wait, gateway, memory, bell } = aWait({ isFull: true });
  closeRingReader(memory, bell);
  assert.throws(() => wait.wait(10_000), { code: 'CONNECTION_CLOSED' });
  assert.equal(gateway.activity, 'user-code');
});
