import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendQueue } from '../../../src/net/send-queue.ts';
import { encodePacket, NO_REQUEST_ID } from '../../../src/wire/frame.ts';
import { ScriptedStream } from '../../support/scripted-network.ts';

const EMPTY = new Uint8Array(0);

function aQueue() {
  const stream = new ScriptedStream();
  const queue = new SendQueue(stream, { controlBytesMax: 1000, dataBytesMax: 10_000_000 });
  const done: string[] = [];
  const sendData = (name: string, bytes = 0): void => {
    const packet = encodePacket(name, NO_REQUEST_ID, new Uint8Array(bytes));
    const middle = packet.length >> 1;
    const onDone = (written: boolean): void => void done.push(`${name} ${written}`);
    assert.ok(queue.pushData(packet.subarray(0, middle), packet.subarray(middle), onDone));
  };
  const sendControl = (name: string): boolean =>
    queue.pushControl(encodePacket(name, NO_REQUEST_ID, EMPTY));
  const take = (): string[] => stream.take().map(({ typeName }) => typeName);
  return { queue, stream, done, sendData, sendControl, take };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is sent in one turn travels in one batch, control first', async () => {
  const { stream, sendData, sendControl, take } = aQueue();
  sendData('a');
  sendControl('b');
  sendData('c');
  assert.equal(stream.pendingWrites, 0);
  await turn();
  assert.equal(stream.pendingWrites, 1);
  assert.deepEqual(take(), ['b', 'a', 'c']);
});

test('one batch is with the stream at a time, and its packets are done in order', async () => {
  const { stream, queue, done, sendData, take } = aQueue();
  sendData('a');
  await turn();
  sendData('b');
  sendData('c');
  await turn();
  assert.equal(stream.pendingWrites, 1);
  assert.deepEqual(done, []);
  assert.deepEqual(take(), ['a']);
  assert.deepEqual(done, ['a true']);
  assert.deepEqual(take(), ['b', 'c']);
  assert.deepEqual(done, ['a true', 'b true', 'c true']);
  assert.equal(queue.bytes, 0);
});

test('what is sent while a batch is being told of does not start a second one', async () => {
  const { stream, sendData, queue, take } = aQueue();
  const packet = encodePacket('first', NO_REQUEST_ID, EMPTY);
  queue.pushData(packet, EMPTY, () => sendData('new'));
  await turn();
  for (let count = 0; count < 4; count += 1) sendData('large', 200_000);
  take();
  await turn();
  assert.equal(stream.pendingWrites, 1);
});

test('data waits here, not in the stream, so that control overtakes it', async () => {
  const { stream, sendData, sendControl, take } = aQueue();
  for (let count = 0; count < 20; count += 1) sendData('data', 100_000);
  await turn();
  assert.ok(stream.pendingBytes <= 256 * 1024, `${stream.pendingBytes} bytes in the stream`);
  sendControl('urgent');
  assert.deepEqual(take(), ['data', 'data']);
  assert.deepEqual(take(), ['urgent', 'data', 'data']);
  let rest = 0;
  while (stream.pendingWrites > 0) rest += take().length;
  assert.equal(rest, 16);
});

test('a packet larger than a batch goes alone', async () => {
  const { sendData, take } = aQueue();
  sendData('small');
  sendData('large', 1_000_000);
  sendData('last');
  await turn();
  assert.deepEqual(take(), ['small']);
  assert.deepEqual(take(), ['large']);
  assert.deepEqual(take(), ['last']);
});

test('a failed stream gives every packet back, once', async () => {
  const { queue, done, sendData, take } = aQueue();
  sendData('a');
  await turn();
  sendData('b');
  queue.fail();
  assert.deepEqual(done, ['a false', 'b false']);
  assert.equal(queue.bytes, 0);
  take();
  queue.fail();
  await turn();
  assert.equal(done.length, 2);
});

test('a packet whose sender fails the queue while it is told is not told twice', async () => {
  const { queue, stream } = aQueue();
  const done: string[] = [];
  const packet = encodePacket('X', NO_REQUEST_ID, EMPTY);
  queue.pushData(packet, EMPTY, (written) => {
    done.push(`first ${written}`);
    queue.fail();
  });
  queue.pushData(packet, EMPTY, (written) => void done.push(`second ${written}`));
  await turn();
  stream.take();
  await turn();
  assert.deepEqual(done, ['first true', 'second true']);
  assert.equal(stream.pendingWrites, 0);
});

test('ends the stream after everything that was accepted', async () => {
  const { queue, stream, sendData, take } = aQueue();
  sendData('a');
  await turn();
  sendData('b');
  queue.end();
  await turn();
  assert.equal(stream.isEnded, false);
  take();
  assert.equal(stream.isEnded, false);
  assert.deepEqual(take(), ['b']);
  assert.equal(stream.isEnded, true);
});

test('each lane refuses what is over its limit', () => {
  const { queue, sendControl } = aQueue();
  while (sendControl('x'));
  assert.ok(queue.bytes > 900 && queue.bytes <= 1000);
  const tooMuch = new Uint8Array(10_000_001);
  assert.equal(
    queue.pushData(EMPTY, tooMuch, () => assert.fail('never accepted')),
    false,
  );
});
