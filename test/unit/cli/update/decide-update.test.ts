import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epoch } from '../../../../src/base/ids.ts';
import {
  decideUpdate,
  unlikelyChange,
  type UpdateDecision,
} from '../../../../src/cli/update/decide-update.ts';
import { changesText, sizeChanges } from '../../../../src/model/plan-sizes.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { settledPacking } from '../../../../src/model/settled-packing.ts';
import { createPacking } from '../../../../src/packing/create.ts';
import type { RepackRequest } from '../../../../src/packing/packing.ts';
import { parallelismOf, placesIn } from '../../../support/packing-cases.ts';
import { aBolt, anInput, aPhysicalPlan, aSpout, aTopology } from '../../../support/topologies.ts';

/* What a request means in every state that an update before it may have left. */

const topology = aTopology(
  [
    aSpout('words', { parallelism: 2 }),
    aBolt('count', [anInput('words', { kind: 'fields', fields: ['word'] })], { parallelism: 2 }),
  ],
  { 'topology.stmgrs': '2', 'topology.key.groups': '16' },
);
/** 1 words[0], 3 count[0] | 2 words[1], 4 count[1] */
const packed = createPacking(topology.config).pack(topology).plan;
const inForce = aPhysicalPlan(topology, packed);

function decide(
  request: RepackRequest,
  packingPlan: PackingPlan = packed,
  physicalPlan: PhysicalPlan = inForce,
): UpdateDecision {
  return decideUpdate({ topology, packingPlan, physicalPlan, request });
}

const count = (tasks: number): RepackRequest => ({ parallelism: parallelismOf({ count: tasks }) });

/** The plan that a request stores. */
function stored(request: RepackRequest): PackingPlan {
  const decision = decide(request);
  assert.equal(decision.kind, 'store');
  return { ...decision.planned.union, epoch: epoch(1) };
}

const up = stored(count(3));
const down = stored(count(1));
const retiring = aPhysicalPlan(topology, down);
const retired = aPhysicalPlan(topology, settledPacking(down));

describe('repeating a request after a crash (O28)', () => {
  const cases: readonly (readonly [string, RepackRequest, PackingPlan, PhysicalPlan, string])[] = [
    ['before anything was stored', count(3), packed, inForce, 'store'],
    ['after the plan was stored', count(3), up, inForce, 'join'],
    ['when the plan is in force', count(3), up, aPhysicalPlan(topology, up), 'done'],
    ['down: after the plan was stored', count(1), down, inForce, 'join'],
    ['down: while tasks retire', count(1), down, retiring, 'join'],
    ['down: when they have retired, but are not ended', count(1), down, retired, 'join'],
    ['down: when all is done', count(1), settledPacking(down), retired, 'done'],
  ];
  for (const [name, request, packingPlan, physicalPlan, expected] of cases) {
    test(`${name}: ${expected}`, () => {
      assert.equal(decide(request, packingPlan, physicalPlan).kind, expected);
    });
  }
});

describe('another request', () => {
  test('takes the place of an update that is not in force, and says so', () => {
    const decision = decide({ parallelism: parallelismOf({ words: 3 }) }, up);
    assert.equal(decision.kind, 'store');
    assert.equal(changesText(decision.givenUp), 'count 2 → 3, containers 2 → 3');
    const { base, target } = decision.planned;
    assert.equal(changesText(sizeChanges(base, target)), 'words 2 → 3, containers 2 → 3');
  });

  test('with the numbers in force gives an update up', () => {
    const decision = decide(count(2), up);
    assert.equal(decision.kind, 'store');
    assert.deepEqual(placesIn(decision.planned.union), placesIn(packed));
  });

  for (const [name, plan] of [
    ['while tasks retire', retiring],
    ['while they have retired, but are not ended', retired],
  ] as const) {
    test(`${name} has to wait; a wrong one is refused at once`, () => {
      assert.equal(decide(count(3), down, plan).kind, 'retiring');
      assert.throws(() => decide(count(0), down, plan), { code: 'INVALID_ARGUMENT' });
    });
  }
});

describe('what is refused (O28)', () => {
  const cases: readonly (readonly [string, RepackRequest, RegExp])[] = [
    [
      'an unknown name, with the nearest one',
      { parallelism: parallelismOf({ coumt: 3 }) },
      /^there is no component 'coumt' in topology 'words'; did you mean 'count'\?$/,
    ],
    [
      'none of an unknown one, too',
      { parallelism: parallelismOf({ coumt: 0 }) },
      /^there is no component 'coumt' in topology 'words'; did you mean 'count'\?$/,
    ],
    ['0', count(0), /^component 'count': its parallelism must be a whole number from 1, not 0$/],
    ['less', count(-1), /^component 'count': its parallelism must be .* from 1, not -1$/],
    [
      'more tasks than key groups',
      count(17),
      /^bolt 'count': its parallelism of 17 is above the 16 key groups that a fields /,
    ],
    [
      'no container',
      { containers: 0 },
      /^the number of containers must be a whole number from 1 to the 4 tasks .*, not 0$/,
    ],
    ['more containers than tasks', { containers: 5 }, /from 1 to the 4 tasks .*, not 5$/],
  ];
  for (const [name, request, message] of cases) {
    test(name, () => {
      assert.throws(() => decide(request), { code: 'INVALID_ARGUMENT', message });
    });
  }
});

test('a factor above heron.update.factor.max looks like a slip (O27)', () => {
  const slip = (from: number, to: number, config: Readonly<Record<string, string>> = {}) =>
    unlikelyChange(aTopology(undefined, config), [{ component: undefined, from, to }]);
  assert.equal(slip(2, 8), undefined);
  assert.equal(slip(8, 2), undefined);
  assert.equal(
    slip(2, 9),
    'containers 2 → 9 is a change by more than 4 times (heron.update.factor.max)',
  );
  assert.match(slip(9, 2) ?? '', /^containers 9 → 2 is a change by more than 4 times/);
  assert.equal(slip(2, 9, { 'heron.update.factor.max': '4.5' }), undefined);
});
