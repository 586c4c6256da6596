import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';
import {
  NO_PASSWORD,
  ServerConnection,
} from '../../../../src/state-manager/zookeeper/server-connection.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ScriptedNetwork, ScriptedStream } from '../../../support/scripted-network.ts';
import { lastDial, ScriptedServer, SESSION_MS, turn } from '../../../support/scripted-zookeeper.ts';

const PING = 11;

function aConnection({ attemptMsMax = 2_000 } = {}) {
  const network = new ScriptedNetwork();
  const clock = new ManualClock();
  const told: string[] = [];
  const connection = new ServerConnection({
    server: { host: 'one', port: 2181 },
    claim: { sessionId: 5n, password: NO_PASSWORD, lastZxid: 9n, sessionTimeoutMs: SESSION_MS },
    attemptMsMax,
    network,
    clock,
    onGranted: ({ sessionTimeoutMs }) => void told.push(`granted ${sessionTimeoutMs}`),
    onAnswer: ({ xid, zxid, error }) => void told.push(`answer ${xid} ${zxid} ${error}`),
    onGone: ({ code }, isRefused) => void told.push(`gone ${code}${isRefused ? ' refused' : ''}`),
  });
  return { connection, network, clock, told };
}

async function connected() {
  const parts = aConnection();
  const server = new ScriptedServer();
  lastDial(parts.network).accept(server.stream);
  await turn();
  server.takeConnect();
  server.grant();
  await turn();
  return { ...parts, server };
}

describe('the handshake', () => {
  test('shows what we know of our session, and tells what is granted', async () => {
    const { network, clock, told } = aConnection();
    const server = new ScriptedServer();
    lastDial(network).accept(server.stream);
    await turn();
    assert.deepEqual(server.takeConnect(), {
      protocol: 0,
      lastZxid: 9n,
      sessionTimeoutMs: SESSION_MS,
      sessionId: 5n,
      password: '00'.repeat(16),
      isReadOnly: false,
    });
    server.grant({ sessionTimeoutMs: 4_000 });
    clock.advance(2_500);
    assert.deepEqual(told, ['granted 4000'], 'its limit has nothing to say any more');
  });

  test('of an expired session says so, and watches nothing', async () => {
    const { network, clock, told } = aConnection();
    const server = new ScriptedServer();
    lastDial(network).accept(server.stream);
    await turn();
    server.grant({ sessionTimeoutMs: -1 });
    clock.advance(10_000);
    assert.deepEqual(told, ['granted 0']);
    assert.equal(clock.pendingTimers, 0);
  });

  test('has a limit, with the dial', async () => {
    for (const isAccepted of [false, true]) {
      const { network, clock, told } = aConnection({ attemptMsMax: 700 });
      const server = new ScriptedServer();
      const dial = lastDial(network);
      if (isAccepted) dial.accept(server.stream);
      await turn();
      clock.advance(699);
      assert.deepEqual(told, []);
      clock.advance(1);
      assert.deepEqual(told, ['gone REQUEST_TIMEOUT']);
      assert.equal(dial.signal?.aborted, true);
      assert.equal(server.stream.isDestroyed, isAccepted);
      assert.equal(clock.pendingTimers, 0);
    }
  });

  test('that ends without a word is a refusal; a failed dial is none', async () => {
    const refusing = aConnection();
    const server = new ScriptedServer();
    lastDial(refusing.network).accept(server.stream);
    await turn();
    server.stream.hangUp();
    await turn();
    assert.deepEqual(refusing.told, ['gone CONNECTION_CLOSED refused']);
    const dead = aConnection();
    lastDial(dead.network).refuse();
    await turn();
    assert.deepEqual(dead.told, ['gone CONNECTION_REFUSED']);
  });

  test('with something else than ZooKeeper ends', async () => {
    const { network, told } = aConnection();
    const stream = new ScriptedStream();
    lastDial(network).accept(stream);
    await turn();
    stream.feed(Buffer.from('HTTP/1.1 400 Bad Request\r\n'));
    assert.deepEqual(told, ['gone PACKET_MALFORMED']);
    const { network: second, told: toldSecond } = aConnection();
    const short = new ScriptedStream();
    lastDial(second).accept(short);
    await turn();
    short.feed(new JuteWriter().int(0).int(1).frame());
    assert.deepEqual(toldSecond, ['gone PACKET_MALFORMED']);
  });
});

describe('a connection', () => {
  test('sends a ping after a third of the session without a word from us', async () => {
    const { connection, clock, server } = await connected();
    clock.advance(999);
    await turn();
    assert.deepEqual(server.take(), []);
    clock.advance(1);
    await turn();
    assert.deepEqual(
      server.take().map(({ xid, code }) => [xid, code]),
      [[-2, PING]],
    );
    server.answer(-2, {});
    clock.advance(500);
    connection.send(new JuteWriter().int(1).int(3).frame());
    await turn();
    server.take();
    clock.advance(999);
    await turn();
    assert.deepEqual(server.take(), [], 'the request was a word');
    clock.advance(1);
    await turn();
    assert.equal(server.take().length, 1);
  });

  test('lives as long as its pings are answered, and tells nobody of them', async () => {
    const { clock, server, told } = await connected();
    for (let pings = 0; pings < 50; pings += 1) {
      clock.advance(1_000);
      await turn();
      assert.equal(server.take().length, 1);
      server.answer(-2, {});
    }
    assert.deepEqual(told, ['granted 3000']);
  });

  test('is given up after two thirds of the session without a word from the server', async () => {
    const { connection, clock, server, told } = await connected();
    clock.advance(300);
    server.answer(4, { zxid: 12n, error: -101 });
    for (let sent = 0; sent < 19; sent += 1) {
      clock.advance(100);
      connection.send(new JuteWriter().int(5).int(3).frame());
    }
    clock.advance(99);
    assert.deepEqual(told, ['granted 3000', 'answer 4 12 -101']);
    clock.advance(1);
    assert.deepEqual(told.slice(2), ['gone REQUEST_TIMEOUT']);
    assert.equal(server.stream.isDestroyed, true);
    assert.equal(clock.pendingTimers, 0);
  });

  test('that we did not run to hear is heard first', async () => {
    const { clock, server, told } = await connected();
    // The timer is due as soon as the process goes on; what lies in the socket is read behind it.
    const soon = clock.soon.bind(clock);
    clock.soon = (call) => {
      server.answer(-2, {});
      return soon(call);
    };
    clock.advance(2_000);
    assert.deepEqual(told, ['granted 3000']);
    await turn();
    assert.equal(server.stream.isDestroyed, false);
  });

  test('says nothing more once it was destroyed', async () => {
    const { connection, clock, server, told } = await connected();
    connection.destroy();
    connection.destroy();
    server.answer(1, {});
    await turn();
    clock.advance(10_000);
    assert.deepEqual(told, ['granted 3000']);
    const early = aConnection();
    early.connection.destroy();
    const late = new ScriptedStream();
    lastDial(early.network).accept(late);
    await turn();
    assert.equal(late.isDestroyed, true);
    assert.equal(early.clock.pendingTimers, 0);
  });

  test('does not know half an answer of the one before', async () => {
    const first = await connected();
    const whole = new JuteWriter().int(1).long(2n).int(0).frame();
    first.server.stream.feed(whole.subarray(0, 11));
    first.server.stream.hangUp();
    await turn();
    assert.deepEqual(first.told, ['granted 3000', 'gone CONNECTION_CLOSED']);
    const second = await connected();
    second.server.stream.feed(whole);
    assert.deepEqual(second.told, ['granted 3000', 'answer 1 2 0']);
  });
});
