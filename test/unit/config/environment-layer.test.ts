import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentLayer, variableOf } from '../../../src/config/environment-layer.ts';
import { SETTING_KEYS } from '../../../src/model/settings.ts';

test('each setting has a variable of its own', () => {
  assert.equal(variableOf('topology.stmgrs'), 'HERON_TOPOLOGY_STMGRS');
  assert.equal(variableOf('heron.shutdown.grace.ms'), 'HERON_SHUTDOWN_GRACE_MS');
  assert.equal(new Set(SETTING_KEYS.map(variableOf)).size, SETTING_KEYS.length);
});

test('variables are read with their names; an empty one counts as none', () => {
  const { entries, problems, warnings } = environmentLayer({
    HERON_TOPOLOGY_STMGRS: '3',
    HERON_TOPOLOGY_DEBUG: '',
    HERON_DATA: '/data',
    HERON_CONFIG: '/config',
    HERON_TOPOLGY_STMGRS: '4',
    HERON_OF_ANOTHER_PROGRAM: 'x',
    TOPOLOGY_STMGRS: '5',
  });
  assert.deepEqual(
    [...entries],
    [['topology.stmgrs', { text: '3', origin: 'environment variable HERON_TOPOLOGY_STMGRS' }]],
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(warnings, [
    'environment variable HERON_TOPOLGY_STMGRS is no setting; did you mean HERON_TOPOLOGY_STMGRS?',
  ]);
});

test('a wrong value names its variable', () => {
  const { problems } = environmentLayer({
    HERON_TOPOLOGY_STMGRS: 'x',
    HERON_TOPOLOGY_NAME: 'words',
  });
  assert.deepEqual(problems, [
    'environment variable HERON_TOPOLOGY_STMGRS: ' +
      "topology.stmgrs: expected a whole number from 1 to 100000, got 'x'",
    'environment variable HERON_TOPOLOGY_NAME: ' +
      "topology.name is what 'heron submit' is given; remove it",
  ]);
});
