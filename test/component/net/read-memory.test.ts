import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Address, ByteStream } from '../../../src/net/network.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { eventually } from '../../support/eventually.ts';

const LOOPBACK: Address = { host: '127.0.0.1', port: 0 };

describe('the memory that sockets read into', () => {
  test('every socket of a thread, accepted or dialled, reads into the same', async (t) => {
    const memories = new Set<ArrayBufferLike>();
    const texts: string[] = [];
    const owner = (stream: ByteStream) => ({
      onData: (chunk: Buffer): void => {
        memories.add(chunk.buffer);
        texts.push(chunk.toString('latin1'));
        if (texts.length === 1) stream.write([Buffer.from('answer')], () => {});
      },
      onClosed: (): void => {},
    });
    const listener = await tcpNetwork.listen(LOOPBACK, (stream) => stream.start(owner(stream)));
    t.after(() => listener.close());
    const stream = await tcpNetwork.connect(listener.address);
    t.after(() => stream.destroy());
    stream.start(owner(stream));
    stream.write([Buffer.from('question')], () => {});
    await eventually(() => assert.deepEqual(texts, ['question', 'answer']));
    assert.equal(memories.size, 1);
  });

  test('bytes that come before anybody listens stay with the system, on both sides', async (t) => {
    const texts: string[] = [];
    const events = {
      onData: (chunk: Buffer): void => void texts.push(chunk.toString('latin1')),
      onClosed: (): void => {},
    };
    const accepted: ByteStream[] = [];
    const listener = await tcpNetwork.listen(LOOPBACK, (stream) => {
      accepted.push(stream);
      stream.write([Buffer.from('early answer')], () => {});
    });
    t.after(() => listener.close());
    const dial = async (): Promise<ByteStream> => {
      const stream = await tcpNetwork.connect(listener.address);
      t.after(() => stream.destroy());
      stream.write([Buffer.from('early question')], () => {});
      return stream;
    };
    const early = await dial();
    const later = await dial();
    await eventually(() => accepted.length === 2);
    // Everything has come on the later connection, so it has on the earlier one.
    accepted[1]?.start(events);
    later.start(events);
    await eventually(() => texts.length === 2);
    accepted[0]?.start(events);
    early.start(events);
    await eventually(() =>
      assert.equal(
        texts.toSorted().join(),
        'early answer,early answer,early question,early question',
      ),
    );
  });
});
