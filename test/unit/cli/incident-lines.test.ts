import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId } from '../../../src/base/ids.ts';
import { incidentLines } from '../../../src/cli/incident-lines.ts';
import type { Completion } from '../../../src/model/completion.ts';

const COMPLETION: Completion = {
  topologyId: topologyId('words-1'),
  completedAtMs: 1,
  result: 'completed',
  incidents: [],
  recovered: [],
};

test('a run without incidents has nothing to name', () => {
  assert.deepEqual(incidentLines(COMPLETION), []);
});

test('losses come first, deaths that cost nothing are told apart', () => {
  const loss = { atMs: 1, container: 1, process: 'container_1_clicks_2', reason: 'was killed' };
  const recovered = { atMs: 2, container: 2, process: 'stmgr-2', reason: 'was killed' };
  assert.deepEqual(incidentLines({ ...COMPLETION, incidents: [loss], recovered: [recovered] }), [
    '  container 1: container_1_clicks_2 was killed',
    'all tuples came again after these deaths; what a bolt kept in memory did not:',
    '  container 2: stmgr-2 was killed',
  ]);
});
