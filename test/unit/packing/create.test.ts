import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { createPacking } from '../../../src/packing/create.ts';
import { firstFitDecreasing } from '../../../src/packing/first-fit-decreasing.ts';
import { resourceCompliant } from '../../../src/packing/resource-compliant.ts';
import { roundRobin } from '../../../src/packing/round-robin.ts';
import { GIB, placesIn, topologyOf } from '../../support/packing-cases.ts';

const packingOf = (algorithm: string) =>
  createPacking(new Map([['heron.packing.algorithm', algorithm]]));

test('the setting names the algorithm, round robin unless it is set', () => {
  assert.equal(createPacking(new Map()), roundRobin);
  assert.equal(packingOf('round-robin'), roundRobin);
  assert.equal(packingOf('resource-compliant-round-robin'), resourceCompliant);
  assert.equal(packingOf('first-fit-decreasing'), firstFitDecreasing);
});

test('an algorithm that does not exist', () => {
  assert.throws(() => packingOf('best-fit'), {
    code: 'INVALID_CONFIG',
    message: /^heron\.packing\.algorithm: expected 'round-robin' or .*, got 'best-fit'$/,
  });
});

/** As docs/packing.md shows plans. */
function written(plan: PackingPlan): string {
  const places = placesIn(plan);
  const lines = plan.containers.map(({ id, required }) => {
    const { cpuCores, ramBytes, diskBytes } = required;
    const size = `${cpuCores} cores, ${ramBytes / GIB} GiB memory, ${diskBytes / GIB} GiB disk`;
    return `container ${id}: ${size}\n    ${(places[id] ?? []).join(', ')}\n`;
  });
  return `\`\`\`\n${lines.join('')}\`\`\`\n`;
}

const LIMIT = { 'topology.container.ram': String(4 * GIB) };

const EXAMPLES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['round-robin', {}],
  ['resource-compliant-round-robin', LIMIT],
  ['first-fit-decreasing', { 'topology.component.rammap': `count:${2 * GIB}` }],
];

for (const [algorithm, config] of EXAMPLES) {
  test(`the plan of docs/packing.md is what comes out: ${algorithm}`, () => {
    const docs = readFileSync(new URL('../../../docs/packing.md', import.meta.url), 'utf8');
    const topology = topologyOf(
      { sentences: 1, split: 3, count: 3 },
      { 'topology.stmgrs': '2', 'heron.packing.algorithm': algorithm, ...config },
    );
    const text = written(createPacking(topology.config).pack(topology).plan);
    assert.ok(docs.includes(`\n${text}`), `docs/packing.md should have:\n${text}`);
  });
}
