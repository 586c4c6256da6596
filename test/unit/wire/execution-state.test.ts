import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import {
  decodeExecutionState,
  encodeExecutionState,
  type ExecutionState,
} from '../../../src/wire/execution-state.ts';
import { goldenFolder } from '../../support/golden.ts';

const state: ExecutionState = {
  topologyName: topologyName('words'),
  topologyId: topologyId('words-4f2a'),
  submittedAtSeconds: 1_700_000_000,
  submittedBy: 'ada',
  cluster: 'local',
  role: 'ada',
  environ: 'default',
  engineVersion: '0.1.0',
};

suite('execution states', () => {
  test('come back as they were', () => {
    assert.deepEqual(decodeExecutionState(encodeExecutionState(state)), state);
  });

  test('of Heron are read', () => {
    const stored = goldenFolder<{ payload: Record<string, unknown> }>('state').filter(({ name }) =>
      name.includes('executionstate'),
    );
    assert.equal(stored.length, 3);
    for (const { bytes, facts } of stored) {
      const read = decodeExecutionState(bytes);
      assert.equal(read.topologyName, facts.payload['topology_name']);
      assert.equal(read.topologyId, facts.payload['topology_id']);
      assert.equal(String(read.submittedAtSeconds), facts.payload['submission_time']);
      assert.equal(read.cluster, facts.payload['cluster']);
      assert.equal(read.role, facts.payload['role']);
      assert.equal(read.environ, facts.payload['environ']);
    }
  });

  test('that are corrupted say what is wrong', () => {
    assert.throws(
      () => decodeExecutionState(Uint8Array.of(0x0a, 1, 0x77)),
      (error) => hasCode(error, 'STATE_CORRUPTED') && error.message.includes('topology_id'),
    );
  });
});
