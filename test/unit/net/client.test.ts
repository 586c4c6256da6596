import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EngineError, environmentError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { ReconnectingClient, type ReconnectingClientOptions } from '../../../src/net/client.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import type { PacketConnection } from '../../../src/net/packet-connection.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Dial, ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';

const HERE = { host: 'here', port: 1 };
const THERE = { host: 'there', port: 2 };

function aClient(overrides: Partial<ReconnectingClientOptions> = {}) {
  const network = new ScriptedNetwork();
  const clock = new ManualClock();
  const events: string[] = [];
  const client = new ReconnectingClient({
    peer: 'topology master',
    network,
    clock,
    random: { ...createSeededRandom(1), below: () => 0 },
    logger: silentLogger,
    handlers: new MessageHandlers(),
    packetBytesMax: 1000,
    backoffMinMs: 100,
    backoffMaxMs: 1000,
    onConnected: () => void events.push('connected'),
    onDisconnected: (reason) => void events.push(`disconnected ${reason.code}`),
    ...overrides,
  });
  const dial = (index: number): Dial => {
    const found = network.dials[index];
    assert.ok(found, `there was no dial ${index}`);
    return found;
  };
  return { client, network, clock, events, dial };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('connecting', () => {
  test('happens once a target is named, and the handshake makes it connected', async () => {
    const handshake = Promise.withResolvers<void>();
    const connections: PacketConnection[] = [];
    const { client, network, clock, dial } = aClient({
      onConnected: (connection) => {
        connections.push(connection);
        return handshake.promise;
      },
    });
    assert.equal(network.dials.length, 0);
    client.retarget(HERE);
    assert.deepEqual(dial(0).address, HERE);
    dial(0).accept(new ScriptedStream());
    await turn();
    assert.equal(client.isConnected, false);
    handshake.resolve();
    await turn();
    assert.equal(client.isConnected, true);
    assert.equal(client.connection, connections[0]);
    assert.equal(clock.pendingTimers, 0);
    client.retarget({ ...HERE });
    assert.equal(client.isConnected, true, 'the same target again changes nothing');
    assert.equal(network.dials.length, 1);
  });

  test('is tried again with growing waits, and at once less often after a success', async () => {
    const { client, network, clock, dial } = aClient();
    client.retarget(HERE);
    const waits = [100, 200, 400, 800, 1000, 1000];
    for (const [index, waitMs] of waits.entries()) {
      dial(index).refuse();
      await turn();
      assert.equal(client.lastError?.code, 'CONNECTION_REFUSED');
      clock.advance(waitMs - 1);
      assert.equal(network.dials.length, index + 1, `after ${waitMs - 1} ms`);
      clock.advance(1);
      assert.equal(network.dials.length, index + 2, `after ${waitMs} ms`);
    }
    const stream = new ScriptedStream();
    dial(waits.length).accept(stream);
    await turn();
    assert.equal(client.isConnected, true);
    stream.hangUp();
    await turn();
    clock.advance(100);
    assert.equal(network.dials.length, waits.length + 2);
  });

  test('ends with its time limit, in the dial and in the handshake', async () => {
    const { client, network, clock, dial } = aClient({
      attemptMsMax: 500,
      onConnected: () => new Promise<void>(() => {}),
    });
    client.retarget(HERE);
    clock.advance(500);
    assert.equal(dial(0).signal?.aborted, true);
    assert.equal(client.lastError?.code, 'REQUEST_TIMEOUT');
    clock.advance(100);
    const stream = new ScriptedStream();
    dial(1).accept(stream);
    await turn();
    clock.advance(500);
    await turn();
    assert.equal(stream.isEnded, true);
    clock.advance(200);
    assert.equal(network.dials.length, 3);
  });

  test('a refused handshake closes the connection and tries again', async () => {
    const { client, network, clock, dial, events } = aClient({
      onConnected: () => {
        throw environmentError('VERSION_MISMATCH', 'too old');
      },
    });
    client.retarget(HERE);
    const stream = new ScriptedStream();
    dial(0).accept(stream);
    await turn();
    assert.equal(stream.isEnded, true);
    assert.equal(client.lastError?.code, 'VERSION_MISMATCH');
    assert.equal(client.isConnected, false);
    assert.deepEqual(events, [], 'it was never connected');
    clock.advance(100);
    assert.equal(network.dials.length, 2);
  });
});

describe('a lost connection', () => {
  test('is told once, and made again', async () => {
    const { client, network, clock, dial, events } = aClient();
    client.retarget(HERE);
    const stream = new ScriptedStream();
    dial(0).accept(stream);
    await turn();
    stream.hangUp();
    await turn();
    assert.equal(client.connection, undefined);
    clock.advance(100);
    dial(1).accept(new ScriptedStream());
    await turn();
    assert.deepEqual(events, ['connected', 'disconnected CONNECTION_LOST', 'connected']);
    assert.equal(network.dials.length, 2);
  });

  test('may be answered with a new target or with close', async () => {
    const first = aClient({ onDisconnected: () => first.client.retarget(THERE) });
    const second = aClient({ onDisconnected: () => second.client.close() });
    for (const { client, dial } of [first, second]) {
      client.retarget(HERE);
      const stream = new ScriptedStream();
      dial(0).accept(stream);
      await turn();
      stream.hangUp();
      await turn();
    }
    first.clock.advance(10_000);
    second.clock.advance(10_000);
    const targets = ({ network }: typeof first) => network.dials.map(({ address }) => address.host);
    assert.equal(targets(first)[1], 'there');
    assert.equal(targets(first).filter((host) => host === 'here').length, 1);
    assert.deepEqual(targets(second), ['here']);
  });
});

describe('an old target is never dialled again', () => {
  const moments: readonly (readonly [string, (dial: Dial, clock: ManualClock) => Promise<void>])[] =
    [
      ['while dialling', async () => {}],
      [
        'while waiting to try again',
        async (dial) => {
          dial.refuse();
          await turn();
        },
      ],
      [
        'while connected',
        async (dial) => {
          dial.accept(new ScriptedStream());
          await turn();
        },
      ],
    ];
  for (const [when, prepare] of moments) {
    test(`retarget ${when}`, async () => {
      const { client, network, clock, dial, events } = aClient();
      client.retarget(HERE);
      await prepare(dial(0), clock);
      client.retarget(THERE);
      assert.deepEqual(dial(1).address, THERE);
      const stale = new ScriptedStream();
      dial(0).accept(stale);
      await turn();
      clock.advance(60_000);
      assert.equal(network.dials.filter(({ address }) => address.host === 'here').length, 1);
      if (when === 'while dialling') assert.equal(stale.isDestroyed, true);
      if (when === 'while connected') {
        assert.deepEqual(events, ['connected', 'disconnected CONNECTION_CLOSED']);
      }
    });

    test(`close ${when}`, async () => {
      const { client, network, clock, dial } = aClient();
      client.retarget(HERE);
      await prepare(dial(0), clock);
      client.close();
      client.close();
      client.retarget(THERE);
      await turn();
      clock.advance(60_000);
      assert.equal(network.dials.length, 1);
      assert.equal(client.isConnected, false);
      assert.equal(clock.pendingTimers, 0);
    });
  }

  test('a new target is not punished for the failures of the old one', async () => {
    const { client, network, clock, dial } = aClient();
    client.retarget(HERE);
    dial(0).refuse();
    await turn();
    clock.advance(100);
    dial(1).refuse();
    await turn();
    client.retarget(THERE);
    dial(2).refuse();
    await turn();
    clock.advance(100);
    assert.equal(network.dials.length, 4);
  });

  test('retarget to nobody', async () => {
    const { client, network, clock, dial } = aClient();
    client.retarget(HERE);
    dial(0).refuse();
    await turn();
    client.retarget(undefined);
    clock.advance(60_000);
    assert.equal(network.dials.length, 1);
    assert.equal(client.target, undefined);
    client.retarget(HERE);
    assert.equal(network.dials.length, 2);
  });
});

test('the first failure of a kind is a warning, its repeats are not', async () => {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (_message: string, fields?: Readonly<Record<string, unknown>>): void =>
      void lines.push(`${level} ${String(fields?.['code'])}`);
  const logger = { ...silentLogger, warn: note('warn'), debug: note('debug') };
  const { client, clock, dial } = aClient({ logger, attemptMsMax: 5000 });
  client.retarget(HERE);
  dial(0).refuse();
  await turn();
  clock.advance(100);
  dial(1).refuse();
  await turn();
  clock.advance(200);
  clock.advance(5000);
  await turn();
  assert.deepEqual(lines, [
    'warn CONNECTION_REFUSED',
    'debug CONNECTION_REFUSED',
    'warn REQUEST_TIMEOUT',
  ]);
});

test('our own mistake in the handshake is not taken for a failed peer', async (t) => {
  const mistakes: unknown[] = [];
  const onRejection = (error: unknown): void => void mistakes.push(error);
  // The test runner listens too; without this it would count the mistake as its own.
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', onRejection);
  t.after(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener);
  });
  const failure: EngineError | TypeError = new TypeError('our own mistake');
  const { client, dial } = aClient({ onConnected: () => Promise.reject(failure) });
  client.retarget(HERE);
  dial(0).accept(new ScriptedStream());
  await turn();
  await turn();
  assert.deepEqual(mistakes, [failure]);
  client.close();
});
