import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import {
  exists,
  getChildren,
  getData,
  sync,
} from '../../../../src/state-manager/zookeeper/operations.ts';
import {
  hasReason,
  ZooKeeperError,
} from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';
import type { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';
import type { JuteReader } from '../../../../src/state-manager/zookeeper/jute-reader.ts';
import {
  aSession,
  lastDial,
  type ScriptedServer,
  SESSION_MS,
  turn,
} from '../../../support/scripted-zookeeper.ts';

const CODE = { getData: 4, sync: 9, ping: 11, credential: 100, setWatches: 101, close: -11 };
const XID = { credential: -4, setWatches: -8 };
const SERVERS = ['one', 'two', 'three'].map((host, index) => ({ host, port: index + 1 }));

const codes = (server: ScriptedServer): readonly number[] => server.take().map(({ code }) => code);
const strings = (body: JuteReader): readonly string[] => body.vector(() => body.string());
const ignored = (): void => undefined;

/** The reason of its rejection, or `done`. */
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: unknown) => {
      assert.ok(error instanceof ZooKeeperError);
      return error.reason;
    },
  );

describe('servers', () => {
  test('are tried in turn, with a pause that grows after each round', async () => {
    const { session, network, clock, heard } = aSession({ servers: SERVERS });
    session.open();
    const rounds = [100, 200, 400, 800, 1_600, 2_000, 2_000];
    for (const [round, pauseMs] of rounds.entries()) {
      for (const [turnOf, { host }] of SERVERS.entries()) {
        assert.equal(network.dials.length, round * 3 + turnOf + 1);
        const dial = lastDial(network);
        assert.equal(dial.address.host, host);
        dial.refuse();
        await turn();
        clock.advance(0);
      }
      clock.advance(pauseMs - 1);
      assert.equal(network.dials.length, (round + 1) * 3, `round ${round}`);
      clock.advance(1);
    }
    assert.deepEqual(heard, []);
    assert.equal(session.state, 'connecting');
  });

  test('are tried in an order of chance', () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 60; seed += 1) {
      const { session, network } = aSession({ servers: SERVERS, random: createSeededRandom(seed) });
      session.open();
      orders.add(lastDial(network).address.host);
    }
    assert.equal(orders.size, 3);
  });

  test('have a third of the session each, which is what a silent one leaves', async () => {
    const { session, network, clock, heard, connect } = aSession({ servers: SERVERS });
    session.open();
    await connect();
    clock.advance((SESSION_MS * 2) / 3);
    clock.advance(0);
    assert.deepEqual(heard, ['connected', 'suspended REQUEST_TIMEOUT']);
    assert.equal(lastDial(network).address.host, 'two');
    clock.advance(SESSION_MS / 3 - 1);
    assert.equal(lastDial(network).address.host, 'two');
    clock.advance(1);
    clock.advance(0);
    assert.equal(lastDial(network).address.host, 'three');
  });
});

describe('a session', () => {
  test('is shown to the next server, with the newest transaction that was seen', async () => {
    const { session, clock, heard, accept, connect } = aSession();
    session.open();
    assert.equal(session.sessionId, 0n);
    const first = await connect();
    assert.equal(session.sessionId, 7n);
    void outcome(session.request(sync('/a')));
    void outcome(session.request(sync('/b')));
    await turn();
    first.answer(1, { zxid: 30n });
    first.answer(2, { zxid: 20n, error: -101 });
    first.stream.hangUp();
    await turn();
    clock.advance(100);
    const second = await accept();
    const { sessionId, lastZxid, password } = second.takeConnect();
    assert.deepEqual([sessionId, lastZxid, password], [7n, 30n, 'ab'.repeat(16)]);
    second.grant();
    assert.deepEqual(heard, ['connected', 'suspended CONNECTION_CLOSED', 'connected']);
  });

  test('lets a request wait for a server, and sends it only once', async () => {
    const { session, clock, connect } = aSession();
    const early = outcome(session.request(sync('/early')));
    session.open();
    const first = await connect();
    assert.deepEqual(codes(first), [CODE.sync]);
    const sent = outcome(session.request(sync('/sent')));
    await turn();
    assert.deepEqual(codes(first), [CODE.sync]);
    first.answer(1, {});
    first.stream.hangUp();
    await turn();
    assert.deepEqual([await early, await sent], ['done', 'CONNECTION_LOST']);
    clock.advance(100);
    assert.deepEqual(codes(await connect()), []);
  });

  test('introduces itself on each connection: credentials, watches, then what waits', async () => {
    const credentials = [
      { scheme: 'digest', secret: Buffer.from('a:b') },
      { scheme: 'ip', secret: Buffer.from('') },
    ];
    const { session, clock, connect } = aSession({ credentials });
    session.open();
    const first = await connect();
    assert.deepEqual(codes(first), [CODE.credential, CODE.credential]);
    first.answer(XID.credential, {});
    const asked = [
      outcome(session.request(getData('/data', true), { of: 'data', watcher: ignored })),
      outcome(session.request(exists('/there', true), { of: 'node', watcher: ignored })),
      outcome(session.request(exists('/absent', true), { of: 'node', watcher: ignored })),
      outcome(session.request(getChildren('/folder', true), { of: 'children', watcher: ignored })),
      outcome(session.request(getData('/gone', true), { of: 'data', watcher: ignored })),
      outcome(session.request(getData('/unwatched', false))),
    ];
    await turn();
    first.answer(1, { zxid: 40n, body: dataAndStat });
    first.answer(2, { zxid: 40n, body: onlyStat });
    first.answer(3, { zxid: 40n, error: -101 });
    first.answer(4, { zxid: 41n, body: (to) => void to.int(0) });
    first.answer(5, { zxid: 41n, error: -101 });
    first.answer(6, { zxid: 41n, body: dataAndStat });
    assert.deepEqual(await Promise.all(asked), [
      'done',
      'done',
      'NO_NODE',
      'done',
      'NO_NODE',
      'done',
    ]);
    first.stream.hangUp();
    await turn();
    const waiting = outcome(session.request(sync('/waiting')));
    clock.advance(100);
    const second = await connect();
    const seen = second.take();
    assert.deepEqual(
      seen.map(({ code }) => code),
      [CODE.credential, CODE.credential, CODE.setWatches, CODE.sync],
    );
    const watches = seen[2]?.body;
    assert.ok(watches);
    assert.equal(watches.long(), 41n);
    assert.deepEqual(
      [strings(watches), strings(watches), strings(watches)],
      [['/data', '/there'], ['/absent'], ['/folder']],
    );
    second.answer(XID.credential, {});
    second.answer(XID.setWatches, {});
    second.answer(7, {});
    assert.equal(await waiting, 'done');
  });

  test('tries elsewhere when a server does not arm its watches', async () => {
    const { session, heard, connect } = aSession();
    session.open();
    const server = await connect();
    server.answer(XID.setWatches, { error: -5 });
    assert.deepEqual(heard, ['connected', 'suspended PACKET_MALFORMED']);
  });

  test('is lost by the word of a server, not by time', async () => {
    const { session, clock, heard, accept, connect } = aSession();
    session.open();
    const told: string[] = [];
    const server = await connect();
    const watcher = ({ kind }: { readonly kind: string }): void => void told.push(kind);
    const asked = session.request(exists('/a', true), { of: 'node', watcher });
    await turn();
    server.answer(1, { error: -101 });
    assert.equal(await outcome(asked), 'NO_NODE');
    server.stream.hangUp();
    await turn();
    const waiting = outcome(session.request(sync('/a')));
    clock.advance(100);
    const next = await accept();
    clock.advance(SESSION_MS / 2);
    next.grant({ sessionTimeoutMs: 0, sessionId: 0n });
    assert.deepEqual(heard.slice(2), ['lost SESSION_EXPIRED']);
    assert.deepEqual(told, ['lost']);
    assert.equal(await waiting, 'SESSION_EXPIRED');
    assert.equal(await outcome(session.request(sync('/a'))), 'SESSION_EXPIRED');
    assert.equal(session.state, 'lost');
    await turn();
    assert.equal(clock.pendingTimers, 0);
    await session.close();
    assert.equal(heard.length, 3);
  });

  test('is lost when a server refuses its credentials', async () => {
    const credentials = [{ scheme: 'nosuch', secret: Buffer.from('') }];
    const { session, clock, heard, connect } = aSession({ credentials });
    session.open();
    const waiting = outcome(session.request(sync('/a')));
    const server = await connect();
    server.answer(XID.credential, { error: -115 });
    server.stream.hangUp();
    assert.equal(await waiting, 'AUTHENTICATION_FAILED');
    assert.equal(await outcome(session.request(sync('/a'))), 'AUTHENTICATION_FAILED');
    await turn();
    assert.deepEqual(heard, ['connected', 'lost AUTHENTICATION_FAILED']);
    assert.equal(clock.pendingTimers, 0);
  });
});

describe('closing', () => {
  test('ends the session behind what was asked, and then everything', async () => {
    const { session, clock, heard, connect } = aSession();
    session.open();
    const server = await connect();
    const asked = outcome(session.request(sync('/a')));
    const closed = session.close();
    assert.equal(await outcome(session.request(sync('/b'))), 'CLOSED');
    assert.deepEqual(codes(server), [CODE.sync, CODE.close]);
    server.answer(1, {});
    assert.equal(await asked, 'done');
    server.answer(2, {});
    await closed;
    await session.close();
    assert.deepEqual([session.state, server.stream.isDestroyed], ['closed', true]);
    assert.deepEqual([heard, clock.pendingTimers], [['connected'], 0]);
  });

  test('waits a second at most for a server that says nothing', async () => {
    const { session, clock, heard, connect } = aSession({ sessionTimeoutMs: 60_000 });
    session.open();
    const server = await connect();
    const asked = outcome(session.request(sync('/a')));
    let isClosed = false;
    const closed = session.close().then(() => (isClosed = true));
    clock.advance(999);
    await turn();
    assert.equal(isClosed, false);
    clock.advance(1);
    await closed;
    assert.equal(await asked, 'CLOSED');
    assert.equal(server.stream.isDestroyed, true);
    assert.deepEqual([heard, clock.pendingTimers], [['connected'], 0]);
  });

  test('takes no time without a server, and calls nobody any more', async () => {
    for (const when of ['before', 'dialling', 'pausing', 'suspended'] as const) {
      const { session, network, clock, heard, connect } = aSession();
      if (when !== 'before') session.open();
      if (when === 'pausing') lastDial(network).refuse();
      if (when === 'suspended') (await connect()).stream.hangUp();
      await turn();
      const before = [...heard];
      const waiting = outcome(session.request(sync('/a')));
      await session.close();
      assert.equal(await waiting, 'CLOSED', when);
      if (when === 'before') session.open();
      await turn();
      assert.deepEqual([heard, clock.pendingTimers], [before, 0], when);
    }
  });

  test('by whoever hears of the end is no matter', async () => {
    const parts: { close?: () => Promise<void> } = {};
    const { session, clock, heard, connect } = aSession({
      onSuspended: () => void parts.close?.(),
    });
    parts.close = () => session.close();
    session.open();
    const server = await connect();
    server.stream.hangUp();
    await turn();
    clock.advance(10_000);
    await turn();
    assert.deepEqual([session.state, heard, clock.pendingTimers], ['closed', ['connected'], 0]);
  });

  test('ends it although the server breaks off instead of an answer', async () => {
    const { session, clock, connect } = aSession();
    session.open();
    const server = await connect();
    const closed = session.close();
    server.stream.hangUp();
    await closed;
    assert.deepEqual([session.state, clock.pendingTimers], ['closed', 0]);
  });
});

test('why there is no connection is in the error of what waited in vain', async () => {
  const { session, network, clock } = aSession({ requestTimeoutMs: 50 });
  session.open();
  const waiting = session.request(sync('/a'));
  const failed = assert.rejects(waiting, (error) => {
    return hasReason(error, 'TIMED_OUT') && error.message.includes('nobody listens on one:1');
  });
  lastDial(network).refuse();
  await turn();
  clock.advance(50);
  await failed;
});

function onlyStat(to: JuteWriter): void {
  for (let index = 0; index < 4; index += 1) to.long(1n);
  for (let index = 0; index < 3; index += 1) to.int(0);
  to.long(0n);
  for (let index = 0; index < 2; index += 1) to.int(0);
  to.long(1n);
}

function dataAndStat(to: JuteWriter): void {
  to.buffer(Buffer.from('x'));
  onlyStat(to);
}
