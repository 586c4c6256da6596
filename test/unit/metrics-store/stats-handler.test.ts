import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExceptionLog } from '../../../src/metrics-store/exception-log.ts';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';
import { statsHandler } from '../../../src/metrics-store/stats-handler.ts';
import { QueryExceptions } from '../../../src/wire/messages.ts';
import { askHandler } from '../../support/ask-handler.ts';

const ask = askHandler(
  statsHandler(() => ({
    metrics: new MetricsCollector(),
    exceptions: new ExceptionLog(),
    components: new Set(['word']),
    nowSeconds: 0,
    sinceSeconds: 0,
    dialect: 'metrics-cache',
  })),
);

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
  assert.equal((await ask('/stmgrsregistrationsummary')).status, 400);
});
