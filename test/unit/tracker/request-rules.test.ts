import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalOfRequest } from '../../../src/tracker/request-rules.ts';

function refusal(headers: Record<string, string>, method = 'GET', names: readonly string[] = []) {
  return refusalOfRequest(method, new Headers(headers), names);
}

test('loopback names, numeric addresses and the names it was told are its own', () => {
  for (const host of ['localhost', 'LocalHost:8888', '127.0.0.1:8888', '10.1.2.3', '[::1]:8888']) {
    assert.equal(refusal({ host }), undefined, host);
  }
  assert.equal(
    refusal({ host: 'heron.example.net:8888' }, 'GET', ['heron.example.net']),
    undefined,
  );
});

test('a request for any other name is refused, as DNS rebinding makes them', () => {
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '']) {
    assert.match(refusal({ host }) ?? '', /Host header/, host);
  }
  assert.match(refusal({}) ?? '', /Host header/);
});

test("another site's page gets nothing; a person who follows a link gets the page", () => {
  const host = 'localhost:8888';
  assert.match(refusal({ host, 'sec-fetch-site': 'cross-site' }) ?? '', /cross-site/);
  assert.match(refusal({ host, 'sec-fetch-site': 'same-site' }) ?? '', /cross-site/);
  assert.match(refusal({ host, origin: 'https://evil.example' }) ?? '', /cross-site/);
  assert.match(refusal({ host, origin: 'null' }) ?? '', /cross-site/);
  assert.equal(refusal({ host, 'sec-fetch-site': 'same-origin' }), undefined);
  assert.equal(refusal({ host, origin: 'http://localhost:8888' }, 'POST'), undefined);
  const link = {
    host,
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  assert.equal(refusal(link), undefined);
  assert.match(refusal(link, 'POST') ?? '', /cross-site/);
  assert.match(refusal({ ...link, 'sec-fetch-dest': 'iframe' }) ?? '', /cross-site/);
});
