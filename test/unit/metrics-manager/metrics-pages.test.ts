import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { MetricsPages } from '../../../src/metrics-manager/metrics-pages.ts';
import type { HttpServerOptions } from '../../../src/net/http-rules.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

class Fixture {
  readonly clock = new ManualClock();
  readonly listens: HttpServerOptions[] = [];
  readonly opened: number[] = [];
  isPortTaken = false;
  readonly pages: MetricsPages;

  constructor({ port = 7, isPortFixed = false } = {}) {
    this.pages = new MetricsPages({
      host: 'h',
      port,
      isPortFixed,
      listenHttp: async (options) => {
        if (this.isPortTaken) throw environmentError('PORT_IN_USE', 'taken');
        this.listens.push(options);
        return { port: options.port, close: async () => {} };
      },
      clock: this.clock,
      logger: silentLogger,
      pages: new Map([['/metrics', { contentType: 'text/x', make: () => 'a page' }]]),
      onOpen: (opened) => this.opened.push(opened),
    });
  }

  ask(method: string, path: string) {
    const query = new URLSearchParams();
    const request = { method, path, query, headers: {}, body: Buffer.alloc(0) };
    return this.listens[0]?.handle(request);
  }
}

test('a page is served, and nothing else', async () => {
  const fixture = new Fixture();
  await fixture.pages.open();
  assert.deepEqual(await fixture.ask('GET', '/metrics'), {
    status: 200,
    contentType: 'text/x',
    body: 'a page',
  });
  assert.equal((await fixture.ask('GET', '/'))?.status, 404);
  assert.equal((await fixture.ask('POST', '/metrics'))?.status, 405);
  assert.deepEqual(fixture.opened, [7]);
});

test('a port of the executor’s that is taken is told (G1)', async () => {
  const fixture = new Fixture();
  fixture.isPortTaken = true;
  await assert.rejects(fixture.pages.open(), { code: 'PORT_IN_USE' });
});

test('a port of the settings that is taken is tried again (G1)', async () => {
  const fixture = new Fixture({ isPortFixed: true });
  fixture.isPortTaken = true;
  await fixture.pages.open();
  fixture.clock.advance(10_000);
  await settled();
  assert.equal(fixture.pages.port, undefined);
  fixture.isPortTaken = false;
  fixture.clock.advance(10_000);
  await settled();
  assert.equal(fixture.pages.port, 7);
  assert.deepEqual(fixture.opened, [7]);
  await fixture.pages.close();
  assert.equal(fixture.clock.pendingTimers, 0);
});

test('a port above all ports is none', async () => {
  const fixture = new Fixture({ port: 65_536, isPortFixed: true });
  await fixture.pages.open();
  assert.equal(fixture.pages.port, undefined);
});

test('after close nothing is tried again', async () => {
  const fixture = new Fixture({ isPortFixed: true });
  fixture.isPortTaken = true;
  await fixture.pages.open();
  await fixture.pages.close();
  assert.equal(fixture.clock.pendingTimers, 0);
});
