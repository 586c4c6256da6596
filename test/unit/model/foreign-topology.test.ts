import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, topologyId, topologyName } from '../../../src/base/ids.ts';
import { isForeignTopology } from '../../../src/model/foreign-topology.ts';
import type { ComponentLanguage, LogicalTopology } from '../../../src/model/logical-topology.ts';

const written = (...languages: readonly ComponentLanguage[]): LogicalTopology => ({
  id: topologyId('t-1'),
  name: topologyName('t'),
  state: 'RUNNING',
  config: new Map(),
  components: languages.map((language, index) => ({
    kind: 'spout',
    name: componentName(`c${index}`),
    parallelism: 1,
    language,
    className: 'C',
    config: new Map(),
    outputs: [],
  })),
});

test('one component of ours makes a topology ours', () => {
  assert.ok(isForeignTopology(written('java', 'python')));
  assert.ok(!isForeignTopology(written('java', 'typescript')));
  assert.ok(!isForeignTopology(written('typescript')));
});
