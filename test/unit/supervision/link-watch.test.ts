import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertDefined } from '../../../src/base/assert.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import { LinkWatch } from '../../../src/supervision/link-watch.ts';
import { encodePacket, NO_REQUEST_ID } from '../../../src/wire/frame.ts';
import { LinkBeat } from '../../../src/wire/messages.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

const SILENCE_MS = 10_000;
const BEAT = encodePacket(LinkBeat.typeName, NO_REQUEST_ID, Buffer.alloc(0));
const A_PACKET = encodePacket('anything', NO_REQUEST_ID, Buffer.alloc(100));

class Watched {
  readonly clock = new ManualClock();
  readonly watch: LinkWatch;

  constructor(clock?: Clock) {
    this.watch = new LinkWatch(clock ?? this.clock, SILENCE_MS);
  }

  link(peer: string) {
    const stream = new ScriptedStream();
    const connection = new PacketConnection(stream, {
      handlers: new MessageHandlers(),
      packetBytesMax: 1_000_000,
      clock: this.clock,
      random: createSeededRandom(1),
      logger: silentLogger,
    });
    this.watch.add(connection, peer);
    return { stream, connection };
  }

  /** A second after the other; in each of them all of these are heard. */
  seconds(count: number, ...heard: readonly ScriptedStream[]): void {
    for (let second = 0; second < count; second += 1) {
      this.clock.advance(1_000);
      for (const stream of heard) stream.feed(BEAT);
    }
  }
}

/** A process that is stopped: time goes on, and no timer fires before it runs again. */
class StoppableClock extends ManualClock {
  #aheadMs = 0;

  override now(): number {
    return super.now() + this.#aheadMs;
  }

  stopFor(ms: number): void {
    this.#aheadMs += ms;
  }
}

describe('a link that is watched', () => {
  it('ends when nothing has come for the time that is set, with who it was', () => {
    const watched = new Watched();
    const { connection, stream } = watched.link('stmgr-2');
    watched.seconds(3, stream);
    watched.clock.advance(SILENCE_MS - 1_000);
    assert.ok(connection.isOpen);
    watched.clock.advance(2_000);
    assert.equal(connection.closeReason?.code, 'CONNECTION_LOST');
    assert.match(connection.closeReason.message, /^stmgr-2 has been silent for 1\d{4} ms$/);
    assert.ok(stream.isDestroyed, 'what waits for it is not held any longer');
  });

  const TEN = Array.from({ length: 10 }, (_, index) => index);
  for (const [what, pieces] of [
    ['beats', TEN.map(() => BEAT)],
    ['parts of a large packet', TEN.map((index) => A_PACKET.subarray(index, index + 1))],
  ] as const) {
    it(`stays when all that comes now and then are ${what}`, () => {
      const watched = new Watched();
      const { connection, stream } = watched.link('stmgr-2');
      for (const piece of pieces) {
        watched.clock.advance(SILENCE_MS - 1_000);
        stream.feed(piece);
      }
      assert.ok(connection.isOpen, connection.closeReason?.message);
    });
  }

  it('stays while its peer takes nothing but beats, and is not filled up', async () => {
    const watched = new Watched();
    const { connection, stream } = watched.link('stmgr-2');
    connection.sendPacket(A_PACKET, Buffer.alloc(0));
    await settled();
    const before = connection.queuedBytes;
    watched.seconds(60, stream);
    assert.ok(connection.isOpen);
    assert.equal(connection.queuedBytes, before);
  });

  it('gets five beats in the time that is set, and none when it has ended', async () => {
    const watched = new Watched();
    const { connection, stream } = watched.link('stmgr-2');
    let beats = 0;
    for (let second = 0; second < SILENCE_MS / 1_000; second += 1) {
      watched.seconds(1, stream);
      await settled();
      beats += stream.take().filter(({ typeName }) => typeName === LinkBeat.typeName).length;
    }
    assert.equal(beats, 5);
    connection.abort();
    assert.equal(watched.clock.pendingTimers, 0);
  });

  it('is given up beside others that are heard, which stay', () => {
    const watched = new Watched();
    const [one, two, three] = ['stmgr-2', 'stmgr-3', 'stmgr-4'].map((peer) => watched.link(peer));
    watched.seconds(12, assertDefined(two, 'made').stream, assertDefined(three, 'made').stream);
    assert.deepEqual(
      [one, two, three].map((link) => link?.connection.isOpen),
      [false, true, true],
    );
  });

  it('O21: is doubted once when most are silent at the same time', () => {
    const watched = new Watched();
    const links = ['stmgr-2', 'stmgr-3', 'stmgr-4'].map((peer) => watched.link(peer));
    watched.clock.advance(SILENCE_MS * 1.5);
    assert.ok(links.every(({ connection }) => connection.isOpen));
    watched.clock.advance(SILENCE_MS);
    assert.ok(links.every(({ connection }) => !connection.isOpen));
  });

  it('O21: has all of its time again when this process was stopped itself', () => {
    const clock = new StoppableClock();
    const watched = new Watched(clock);
    const { connection } = watched.link('stmgr-2');
    clock.advance(SILENCE_MS - 2_000);
    clock.stopFor(60_000);
    clock.advance(SILENCE_MS - 1_000);
    assert.ok(connection.isOpen, connection.closeReason?.message);
    clock.advance(3_000);
    assert.ok(!connection.isOpen);
  });

  it('has no more time when it is added again', () => {
    const watched = new Watched();
    const { connection } = watched.link('stmgr-2');
    watched.clock.advance(SILENCE_MS - 1_000);
    watched.watch.add(connection, 'stmgr-2');
    watched.clock.advance(3_000);
    assert.ok(!connection.isOpen);
  });

  it('is not watched when it has ended before', () => {
    const watched = new Watched();
    const { connection } = watched.link('stmgr-2');
    connection.abort();
    watched.watch.add(connection, 'stmgr-2');
    assert.equal(watched.clock.pendingTimers, 0);
  });
});
