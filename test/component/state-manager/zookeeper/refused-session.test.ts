import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aSession,
  lastDial,
  type ScriptedServer,
  SESSION_MS,
  turn,
} from '../../../support/scripted-zookeeper.ts';

describe('servers that refuse our session', () => {
  /** Refuses until the client asks for a new session; returns the server that it asks. */
  async function refusedUntilProbe(parts: ReturnType<typeof aSession>): Promise<ScriptedServer> {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      parts.clock.advance(2_000);
      const server = await parts.accept();
      const { sessionId, lastZxid } = server.takeConnect();
      if (sessionId === 0n) {
        assert.equal(lastZxid, 0n);
        return server;
      }
      server.stream.hangUp();
      await turn();
    }
    return assert.fail('it never asks for a new one');
  }

  async function suspended() {
    const parts = aSession();
    parts.session.open();
    const server = await parts.connect();
    server.stream.hangUp();
    await turn();
    const sinceMs = parts.clock.now();
    const probed = await refusedUntilProbe(parts);
    assert.ok(parts.clock.now() - sinceMs > SESSION_MS, 'not before it could have expired');
    return { ...parts, probed };
  }

  test('and any other have no quorum: it goes on with ours', async () => {
    const { session, clock, heard, probed, accept } = await suspended();
    probed.stream.hangUp();
    await turn();
    clock.advance(2_000);
    const next = await accept();
    assert.equal(next.takeConnect().sessionId, 7n);
    next.grant();
    assert.equal(session.state, 'connected');
    assert.deepEqual(heard.slice(2), ['connected']);
  });

  test('and grant another have just come back: it asks for ours once more', async () => {
    const { session, heard, probed, accept } = await suspended();
    probed.grant({ sessionId: 8n });
    assert.equal(probed.stream.isDestroyed, true);
    const again = await accept();
    assert.equal(again.takeConnect().sessionId, 7n);
    again.grant();
    assert.deepEqual([session.state, session.sessionId], ['connected', 7n]);
    assert.deepEqual(heard.slice(2), ['connected']);
  });

  test('and only ours do not know it: it is lost', async () => {
    const { clock, heard, probed, accept } = await suspended();
    probed.grant({ sessionId: 8n });
    const again = await accept();
    again.takeConnect();
    again.stream.hangUp();
    await turn();
    assert.deepEqual(heard.slice(2), ['lost SESSION_EXPIRED']);
    assert.equal(clock.pendingTimers, 0);
  });

  test('are not meant when they cannot be reached', async () => {
    const { session, network, clock, connect } = aSession();
    session.open();
    (await connect()).stream.hangUp();
    await turn();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      clock.advance(2_000);
      lastDial(network).refuse();
      await turn();
    }
    assert.equal(session.state, 'suspended');
    clock.advance(2_000);
    const server = await connect();
    assert.equal(session.state, 'connected');
    assert.equal(server.stream.isDestroyed, false);
  });
});
