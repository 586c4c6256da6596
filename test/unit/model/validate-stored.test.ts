import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { topologyId } from '../../../src/base/ids.ts';
import { EngineError } from '../../../src/base/errors.ts';
import { validatePackingPlan } from '../../../src/model/validate-packing-plan.ts';
import {
  storedPackingProblems,
  storedTopologyProblems,
} from '../../../src/model/validate-stored.ts';
import { validateTopology } from '../../../src/model/validate-topology.ts';
import { createPacking } from '../../../src/packing/create.ts';
import { decodeTopology, encodeTopology } from '../../../src/wire/topology.ts';
import { topologies } from '../../support/arbitrary-topologies.ts';
import { aPackingPlan } from '../../support/placements.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

test('a stored topology has the problems that a submit would have found', () => {
  assert.deepEqual(storedTopologyProblems(aTopology()), []);
  const cyclic = aTopology([aSpout('s'), aBolt('a', ['b']), aBolt('b', ['a'])]);
  assert.deepEqual(storedTopologyProblems(cyclic), [
    'the bolts form a cycle: b → a → b; break it at one place',
  ]);
});

test('a stored packing plan has to fit its topology', () => {
  const topology = aTopology([aSpout('word', { parallelism: 2 })]);
  assert.deepEqual(storedPackingProblems(aPackingPlan([1, 1]), topology), []);
  assert.match(storedPackingProblems(aPackingPlan([1]), topology).join(), /word/);
});

test('what another language has stored was judged by its own client', () => {
  const java = aTopology([
    aSpout('a.', { language: 'java' }),
    aBolt('x', [], { language: 'java' }),
  ]);
  assert.deepEqual(storedTopologyProblems(java), []);
  assert.deepEqual(storedPackingProblems(aPackingPlan([1]), java), []);
});

test('any description is refused in sentences, or survives its storage and is packed', () => {
  let fit = 0;
  let packed = 0;
  fc.assert(
    fc.property(topologies, (declared) => {
      const problems = validateTopology(declared);
      for (const { message } of problems) {
        assert.ok(!message.includes('\n') && message.length < 700, message);
      }
      if (problems.length > 0) return;
      fit += 1;
      const topology = { ...declared, id: topologyId('words-1'), state: 'RUNNING' as const };
      assert.deepEqual(decodeTopology(encodeTopology(topology)), topology);
      try {
        const { plan } = createPacking(topology.config).pack(topology);
        assert.deepEqual(validatePackingPlan(plan, topology.components), []);
        packed += 1;
      } catch (error) {
        assert.ok(error instanceof EngineError && error.domain === 'user', String(error));
      }
    }),
    { numRuns: 3000 },
  );
  assert.ok(fit > 100 && packed > 50, `${fit} were fit, ${packed} were packed`);
});
