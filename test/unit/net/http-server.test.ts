import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HttpRequest, refusalOf } from '../../../src/net/http-server.ts';

const WELCOME: readonly HttpRequest['headers'][] = [
  { host: '127.0.0.1:8080' },
  { host: '127.0.0.1' },
  { host: '10.0.0.7:8080' },
  { host: '[::1]:8080' },
  { host: 'localhost:8080' },
  { host: 'worker-3:8080' },
  { host: 'localhost', 'sec-fetch-site': 'none' },
  { host: 'localhost', 'sec-fetch-site': 'same-origin' },
];

for (const headers of WELCOME) {
  test(`served: ${JSON.stringify(headers)}`, () => {
    assert.equal(refusalOf(headers, 'worker-3'), undefined);
  });
}

const REFUSED: readonly HttpRequest['headers'][] = [
  {},
  { host: '' },
  { host: 'evil.example' },
  { host: 'evil.example:8080' },
  { host: 'localhost.evil.example' },
  { host: '[::1' },
  { host: '127.0.0.1', origin: 'http://evil.example' },
  { host: '127.0.0.1', origin: 'null' },
  { host: '127.0.0.1', 'sec-fetch-site': 'cross-site' },
  { host: '127.0.0.1', 'sec-fetch-site': 'same-site' },
];

for (const headers of REFUSED) {
  test(`refused: ${JSON.stringify(headers)}`, () => {
    assert.equal(typeof refusalOf(headers, 'worker-3'), 'string');
  });
}
