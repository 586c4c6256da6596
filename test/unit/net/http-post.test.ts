import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PostRequest, postOver } from '../../../src/net/http-post.ts';
import { ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

class HttpStream extends ScriptedStream {
  sent = '';

  override write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    this.sent += Buffer.concat(chunks).toString('latin1');
    onWritten();
  }
}

async function post(fields: Partial<PostRequest> = {}) {
  const network = new ScriptedNetwork();
  const abort = new AbortController();
  const status = postOver(network, {
    address: { host: '127.0.0.1', port: 4318 },
    path: '/v1/metrics?a=b',
    contentType: 'application/json',
    body: Buffer.from('{"ä":1}'),
    signal: abort.signal,
    ...fields,
  });
  const stream = new HttpStream();
  network.dials[0]?.accept(stream);
  await settled();
  return { status, stream, abort };
}

test('the request is HTTP/1.1 with a length', async () => {
  const { status, stream } = await post();
  assert.equal(
    stream.sent,
    [
      'POST /v1/metrics?a=b HTTP/1.1',
      'Host: 127.0.0.1:4318',
      'Content-Type: application/json',
      'Content-Length: 8',
      'Connection: close',
      '',
      Buffer.from('{"ä":1}').toString('latin1'),
    ].join('\r\n'),
  );
  stream.feed(Buffer.from('HTTP/1.1 200 OK\r\n'));
  assert.equal(await status, 200);
  assert.equal(stream.isDestroyed, true);
});

const ANSWERS: readonly (readonly [answer: string, status: number])[] = [
  ['HTTP/1.1 204\r\n\r\n', 204],
  ['HTTP/1.0 503 Service Unavailable\r\n\r\n', 503],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n', 202],
];

for (const [answer, expected] of ANSWERS) {
  test(`an answer cut anywhere: ${JSON.stringify(answer)}`, async () => {
    for (let cut = 0; cut <= answer.length; cut += 1) {
      const { status, stream } = await post();
      stream.feed(Buffer.from(answer.slice(0, cut)));
      stream.feed(Buffer.from(answer.slice(cut)));
      assert.equal(await status, expected);
    }
  });
}

test('an end without an answer, and what is no HTTP, fail retryably', async () => {
  const ended = await post();
  ended.stream.feed(Buffer.from('HTTP/1.1 20'));
  ended.stream.hangUp();
  await assert.rejects(ended.status, { code: 'CONNECTION_LOST', retryable: true });
  const foreign = await post();
  for (let part = 0; part < 20; part += 1) foreign.stream.feed(Buffer.alloc(1_024, 'x'));
  await assert.rejects(foreign.status, { code: 'CONNECTION_LOST', retryable: true });
});

test('an abort ends the wait for an answer', async () => {
  const { status, stream, abort } = await post();
  abort.abort();
  await assert.rejects(status, { code: 'CONNECTION_LOST', retryable: true });
  assert.equal(stream.isDestroyed, true);
});
