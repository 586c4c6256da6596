import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExceptionLog } from '../../../src/topology-master/exception-log.ts';
import { MetricsCollector } from '../../../src/topology-master/metrics-collector.ts';
import { statsHandler } from '../../../src/topology-master/stats-port.ts';
import { QueryExceptions, QueryRegistrations } from '../../../src/wire/messages.ts';

async function ask(path: string, body: Uint8Array = Buffer.alloc(0)) {
  const handle = statsHandler(() => ({
    metrics: new MetricsCollector(),
    exceptions: new ExceptionLog(),
    components: new Set(['word']),
    registered: [],
    absent: [],
    nowSeconds: 0,
  }));
  const query = new URLSearchParams();
  const answer = await handle({
    method: 'POST',
    path,
    query,
    headers: {},
    body: Buffer.from(body),
  });
  return { ...answer, bytes: Buffer.from(answer.body) };
}

test('an empty body is a legal message', async () => {
  const answer = await ask('/stmgrsregistrationsummary');
  assert.equal(answer.status, 200);
  assert.equal(answer.contentType, 'application/octet-stream');
  assert.deepEqual(QueryRegistrations.response.decode(answer.bytes).registeredStmgrs, []);
});

test('both questions about exceptions are answered', async () => {
  const query = QueryExceptions.request.encode(
    QueryExceptions.request.create({ componentName: 'word' }),
  );
  for (const path of ['/exceptions', '/exceptionsummary']) {
    const answer = await ask(path, query);
    assert.equal(QueryExceptions.response.decode(answer.bytes).status?.message, 'OK');
  }
});

test('what cannot be read, and an unknown path, is a bad request', async () => {
  assert.equal((await ask('/stats')).status, 400);
  assert.equal((await ask('/exceptions', Buffer.from([0xff]))).status, 400);
  assert.equal((await ask('/metrics')).status, 400);
});
