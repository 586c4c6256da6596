import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamManagerId } from '../../../src/base/ids.ts';
import { ExceptionLog } from '../../../src/metrics-store/exception-log.ts';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';
import { masterStatsHandler } from '../../../src/topology-master/stats-port.ts';
import { QueryExceptions, QueryRegistrations } from '../../../src/wire/messages.ts';
import { askHandler } from '../../support/ask-handler.ts';

const ask = askHandler(
  masterStatsHandler(
    () => ({
      metrics: new MetricsCollector(),
      exceptions: new ExceptionLog(),
      components: new Set(['word']),
      nowSeconds: 0,
      sinceSeconds: 0,
      dialect: 'topology-master',
    }),
    () => ({ registered: [streamManagerId('stmgr-1')], absent: [streamManagerId('stmgr-2')] }),
  ),
);

test('the registration summary tells who is there; an empty body is a legal message', async () => {
  const answer = await ask('/stmgrsregistrationsummary');
  assert.equal(answer.status, 200);
  assert.equal(answer.contentType, 'application/octet-stream');
  const { registeredStmgrs, absentStmgrs } = QueryRegistrations.response.decode(answer.bytes);
  assert.deepEqual([registeredStmgrs, absentStmgrs], [['stmgr-1'], ['stmgr-2']]);
});

test('questions about metrics are answered as everywhere', async () => {
  const query = QueryExceptions.request.encode(
    QueryExceptions.request.create({ componentName: 'word' }),
  );
  const answer = await ask('/exceptions', query);
  assert.equal(QueryExceptions.response.decode(answer.bytes).status?.message, 'OK');
  assert.equal((await ask('/metrics')).status, 400);
});
