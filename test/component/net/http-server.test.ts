/*
  The HTTP server on real sockets: it listens before it can serve, and loads what it needs for that
  with the first connection.
*/
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { silentLogger } from '../../../src/base/logger.ts';
import { type HttpHandler, listenHttp } from '../../../src/net/http-server.ts';
import { eventually } from '../../support/eventually.ts';

const HOST = '127.0.0.1';

const echo: HttpHandler = ({ method, path, body }) => {
  if (path === '/throws') throw new Error('a fault');
  return { status: 200, reason: 'Very well', body: `${method} ${path} ${body.toString()}` };
};

async function start(t: TestContext) {
  const server = await listenHttp({
    host: HOST,
    port: 0,
    bodyBytesMax: 1_000,
    handle: echo,
    logger: silentLogger,
  });
  t.after(() => server.close());
  return { server, url: `http://${HOST}:${server.port}` };
}

test('connections that come together before anything is loaded are all served', async (t) => {
  const { url } = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await fetch(`${url}/${index}`, { method: 'POST', body: `b${index}` });
      return `${answer.status} ${answer.statusText}: ${await answer.text()}`;
    }),
  );
  assert.deepEqual(
    answers,
    Array.from({ length: 20 }, (_, index) => `200 Very well: POST /${index} b${index}`),
  );
});

test('a request that comes in pieces, the first of them before anything is loaded', async (t) => {
  const { server } = await start(t);
  const socket = connect(server.port, HOST);
  t.after(() => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.write('GET /pie');
  const other = await fetch(`http://${HOST}:${server.port}/other`);
  assert.equal(other.status, 200);
  socket.write('ces HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await eventually(() => answer.endsWith('GET /pieces '));
});

test('W1: a handler that throws is a 500, a body beyond the limit a 413', async (t) => {
  const { url } = await start(t);
  assert.equal((await fetch(`${url}/throws`)).status, 500);
  assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(1_001) })).status, 413);
  assert.equal((await fetch(url)).status, 200);
});

test('W2: a request from another site is refused', async (t) => {
  const { url } = await start(t);
  const headers = { origin: 'http://evil.example' };
  assert.equal((await fetch(url, { headers })).status, 403);
});

test('a port that is taken', async (t) => {
  const { server } = await start(t);
  const options = { host: HOST, port: server.port, bodyBytesMax: 1, logger: silentLogger };
  await assert.rejects(listenHttp({ ...options, handle: echo }), { code: 'PORT_IN_USE' });
});

for (const isAsked of [false, true]) {
  const when = isAsked ? 'with connections open' : 'before any came';
  test(`close frees the port ${when}`, async (t) => {
    const { server, url } = await start(t);
    if (isAsked) assert.equal((await fetch(url)).status, 200); // Kept alive.
    await server.close();
    await server.close();
    const next = createServer();
    t.after(() => next.close());
    await new Promise<void>((resolve) => {
      next.listen(server.port, HOST, resolve);
    });
  });
}

test('a peer that is gone before anything is loaded ends nothing', async (t) => {
  const { server, url } = await start(t);
  const socket = connect(server.port, HOST);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.resetAndDestroy();
  assert.equal((await fetch(url)).status, 200);
});

test('node:http is loaded by the first connection, not by listening', async () => {
  const folder = join(import.meta.dirname, '../../../src');
  const script = `
    import { registerHooks } from 'node:module';
    const urls = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        urls.add(specifier);
        return next(specifier, context);
      },
    });
    const { listenHttp } = await import('${folder}/net/http-server.ts');
    const logger = { error() {} };
    const handle = () => ({ status: 200, body: 'yes' });
    const options = { host: '127.0.0.1', port: 0, bodyBytesMax: 1, handle, logger };
    const server = await listenHttp(options);
    console.log(urls.has('node:http'));
    const { connect } = await import('node:net');
    const socket = connect(server.port, '127.0.0.1');
    const request = "GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n";
    await new Promise((resolve) => socket.once("data", resolve).write(request));
    console.log(urls.has('node:http'));
    await server.close();
  `;
  const args = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.equal(stdout, 'false\ntrue\n');
});
