import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { HttpAnswer, HttpRequest, HttpServer } from '../../../../src/net/http-server.ts';
import {
  simulatedListenHttp,
  type SimulatedRequest,
  simulatedRequest,
} from '../../../../src/simulation/kernel/simulated-http.ts';
import { NetworkInTest } from '../../../support/simulated-network-in-test.ts';

const HOST = '127.0.0.1';

class HttpInTest extends NetworkInTest {
  readonly requests: HttpRequest[] = [];
  server80: HttpServer | undefined;

  async open(handle: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>): Promise<void> {
    const options = { host: HOST, port: 80, bodyBytesMax: 1000, logger: silentLogger };
    this.server80 = await this.inServer(() =>
      simulatedListenHttp(this.server)({
        ...options,
        handle: (request) => {
          this.requests.push(request);
          return handle(request);
        },
      }),
    );
  }

  async ask(request: SimulatedRequest, signal?: AbortSignal): Promise<string> {
    const { status, reason, body } = await this.inClient(() =>
      simulatedRequest(this.client, { host: HOST, port: 80 }, request, signal),
    );
    return `${status} ${reason}: ${body.toString()}`;
  }
}

describe('HTTP in the simulated network', () => {
  it('hands over the request, and the answer back', async () => {
    const world = new HttpInTest();
    await world.open(async () => ({ status: 200, reason: 'Fine', body: Buffer.from('möglich') }));
    assert.equal(world.server80?.port, 80);
    const request: SimulatedRequest = {
      method: 'POST',
      path: '/activate%20it?id=1&name=a%2Fb',
      headers: { 'x-token': 'secret' },
      body: 'ünd',
    };
    assert.equal(await world.ask(request), '200 Fine: möglich');
    const [seen] = world.requests;
    assert.deepEqual([seen?.method, seen?.path], ['POST', '/activate%20it']);
    assert.deepEqual([seen?.query.get('id'), seen?.query.get('name')], ['1', 'a/b']);
    assert.deepEqual([seen?.headers['x-token'], String(seen?.body)], ['secret', 'ünd']);
  });

  it('takes large bodies, up to the limit', async () => {
    const world = new HttpInTest();
    const large = 'x'.repeat(300_000);
    await world.open(() => ({ status: 200, body: large }));
    const post = (bytes: number): SimulatedRequest => ({
      method: 'POST',
      path: '/',
      body: Buffer.alloc(bytes, 'x'),
    });
    assert.equal(await world.ask(post(1000)), `200 : ${large}`);
    assert.match(await world.ask(post(1001)), /^413 The body is too large/);
    assert.match(await world.ask(post(1_000_000)), /^413 The body is too large/);
    assert.equal(world.requests.length, 1);
  });

  it('refuses who the real server refuses, and survives its handler', async () => {
    const world = new HttpInTest();
    await world.open(() => assert.fail('broken'));
    const origin = { method: 'GET', path: '/', headers: { origin: 'http://elsewhere' } };
    assert.match(await world.ask(origin), /^403 Cross-site/);
    assert.equal(world.requests.length, 0);
    assert.match(await world.ask({ method: 'GET', path: '/' }), /^500 Internal error/);
  });

  it('gives no answer when the server goes', async () => {
    const world = new HttpInTest();
    await world.open(() => new Promise(() => {}));
    world.kernel.at(10, () => world.serverThread.kill());
    const isLost = (error: unknown): boolean => hasCode(error, 'CONNECTION_LOST');
    await assert.rejects(world.ask({ method: 'GET', path: '/' }), isLost);
    const isRefused = (error: unknown): boolean => hasCode(error, 'CONNECTION_REFUSED');
    await assert.rejects(world.ask({ method: 'GET', path: '/' }), isRefused);
  });

  it('ends all connections with the server, and can be given up', async () => {
    const world = new HttpInTest();
    await world.open(() => new Promise(() => {}));
    world.serverThread.post(10, () => void world.server80?.close());
    const isLost = (error: unknown): boolean => hasCode(error, 'CONNECTION_LOST');
    await assert.rejects(world.ask({ method: 'GET', path: '/' }), isLost);
    await world.open(() => new Promise(() => {}));
    const controller = new AbortController();
    world.clientThread.post(10, () => controller.abort());
    const isClosed = (error: unknown): boolean => hasCode(error, 'CONNECTION_CLOSED');
    await assert.rejects(world.ask({ method: 'GET', path: '/' }, controller.signal), isClosed);
    await world.idle();
    assert.deepEqual(world.network.connections(), []);
  });
});
