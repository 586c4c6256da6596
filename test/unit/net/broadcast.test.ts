import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { broadcast } from '../../../src/net/broadcast.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedStream } from '../../support/scripted-network.ts';
import { textMessage } from '../../support/text-messages.ts';

const Note = textMessage('Note');

function aConnection(controlQueueBytesMax = 1000) {
  const stream = new ScriptedStream();
  const connection = new PacketConnection(stream, {
    handlers: new MessageHandlers(),
    packetBytesMax: 1000,
    clock: new ManualClock(),
    random: createSeededRandom(1),
    logger: silentLogger,
    controlQueueBytesMax,
  });
  return { stream, connection };
}

test('all get the message, which is encoded once', async () => {
  let encodings = 0;
  const Counted = {
    ...Note,
    encode: (text: string): Uint8Array => {
      encodings += 1;
      return Note.encode(text);
    },
  };
  const all = [aConnection(), aConnection(), aConnection()];
  all[1]?.connection.send(Note, 'first');
  broadcast(
    all.map(({ connection }) => connection),
    Counted,
    'plan',
  );
  await Promise.resolve();
  const seen = all.map(({ stream }) => stream.take().map(({ payload }) => payload));
  assert.deepEqual(seen, [['plan'], ['first', 'plan'], ['plan']]);
  assert.equal(encodings, 1);
});

test('a connection that has ended or does not read is no obstacle for the others', async () => {
  const [ended, full, whole] = [aConnection(), aConnection(10), aConnection()];
  ended.connection.close();
  broadcast([ended.connection, full.connection, whole.connection], Note, 'plan');
  await Promise.resolve();
  assert.equal(full.connection.closeReason?.code, 'QUEUE_FULL');
  assert.deepEqual(
    whole.stream.take().map(({ payload }) => payload),
    ['plan'],
  );
});
