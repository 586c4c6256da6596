import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REDACTED, redacted } from '../../../src/config/redacted.ts';

for (const key of [
  'db.password',
  'kafka.sasl.secret',
  'api-key',
  'my.apiKey',
  'aws.token',
  'key',
]) {
  test(`${key} is a secret`, () => {
    assert.equal(redacted(key, 'hunter2'), REDACTED);
  });
}

for (const key of ['topology.key.groups', 'words.keyboard', 'monkey', 'words.file']) {
  test(`${key} is none`, () => {
    assert.equal(redacted(key, '1024'), '1024');
  });
}

test('a password in an address is a secret, the rest of the address is not', () => {
  const addresses = 'amqp://me:hunter2@host:5672/x, https://host/a:b@c, redis://:p@host';
  const shown = `amqp://me:${REDACTED}@host:5672/x, https://host/a:b@c, redis://:${REDACTED}@host`;
  assert.equal(redacted('words.queues', addresses), shown);
});
