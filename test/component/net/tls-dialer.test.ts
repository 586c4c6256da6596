import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import type { Address } from '../../../src/net/network.ts';
import { createTlsDialer } from '../../../src/net/tls-dialer.ts';

/** A listener that knows nothing of TLS; what it accepts is given to `onSocket`. */
async function listening(t: TestContext, onSocket: (socket: Socket) => void): Promise<Address> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  t.after(() => server.close());
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

test('a port on which nobody listens refuses', async () => {
  await assert.rejects(
    createTlsDialer({}).connect({ host: '127.0.0.1', port: 1 }),
    (error) => hasCode(error, 'CONNECTION_REFUSED') && error.retryable,
  );
});

test('a peer that speaks something else is no peer', async (t) => {
  const address = await listening(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await assert.rejects(
    createTlsDialer({}).connect(address),
    (error) => hasCode(error, 'CONNECTION_LOST') && error.retryable,
  );
});

test('a handshake that the peer ends is over', async (t) => {
  const address = await listening(t, (socket) => socket.destroy());
  await assert.rejects(createTlsDialer({}).connect(address), (error) => {
    return hasCode(error, 'CONNECTION_LOST');
  });
});

test('a handshake that does not end can be given up, and leaves nothing', async (t) => {
  const giveUp = new AbortController();
  const closed = Promise.withResolvers<void>();
  const address = await listening(t, (socket) => {
    socket.resume().on('close', () => closed.resolve());
    socket.once('data', () => giveUp.abort());
  });
  await assert.rejects(createTlsDialer({}).connect(address, giveUp.signal), (error) => {
    return hasCode(error, 'CONNECTION_CLOSED');
  });
  await closed.promise;
  await assert.rejects(createTlsDialer({}).connect(address, giveUp.signal), (error) => {
    return hasCode(error, 'CONNECTION_CLOSED');
  });
});

test('certificates that are none are refused before anybody is dialled', () => {
  for (const options of [{ authority: 'none' }, { certificate: 'none', key: 'none' }]) {
    assert.throws(
      () => createTlsDialer(options),
      (error) => hasCode(error, 'INVALID_CONFIG'),
    );
  }
});
