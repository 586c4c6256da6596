import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { generateFaults } from '../../../../src/simulation/faults/generate-faults.ts';
import { faultPlanText, parseFaultPlan } from '../../../../src/simulation/faults/parse-faults.ts';

test('every plan that is generated is read back as it was', () => {
  const limits = { faultsMax: 8, fromMs: 0, toMs: 9_000, horizonMs: 20_000, containers: 3 };
  for (let seed = 0; seed < 500; seed += 1) {
    const plan = generateFaults(createSeededRandom(seed), limits);
    assert.deepEqual(parseFaultPlan(faultPlanText(plan)), plan);
  }
});

const REFUSED: readonly [text: string, complaint: string][] = [
  ['[', 'a fault plan is a JSON array: this is not JSON'],
  ['{}', 'a fault plan: expected a JSON array, got {}'],
  ['[1]', 'faults[0]: expected an object, got 1'],
  ['[{"atMs":1,"kind":"crash","processes":["stmgr-1"]}]', 'faults[0].processes[0]: expected'],
  ['[{"atMs":1,"kind":"crash","processes":"instance#1"}]', 'faults[0].processes: expected a list'],
  ['[{"atMs":-1,"kind":"duplicate-master"}]', 'faults[0].atMs: expected a number from 0 up'],
  ['[{"atMs":1,"kind":"duplicate-master","nodeLostAfterMs":"9"}]', 'faults[0].nodeLostAfterMs'],
  ['[{"atMs":1,"kind":"clock-step","byMs":1,"nodeLostAfterMs":9}]', 'faults[0].nodeLostAfterMs'],
  ['[{"atMs":1,"kind":"earthquake"}]', 'faults[0].kind: expected one of crash'],
  ['[{"atMs":1,"kind":"toString"}]', 'faults[0].kind: expected one of crash'],
  ['[{"atMs":1,"kind":"full-disk"}]', 'faults[0].forMs: expected a number from 0 up, got nothing'],
  ['[{"atMs":1,"kind":"full-disk","forMs":1,"extra":2}]', 'faults[0].extra: expected nothing'],
  ['[{"atMs":1,"kind":"drop-connection","between":[[]]}]', 'faults[0].between: expected two lists'],
  ['[{"atMs":1,"kind":"command","command":"stop"}]', 'faults[0].command: expected one of'],
  ['[{"atMs":1,"kind":"command","command":"kill","container":1}]', 'faults[0].container'],
  ['[{"atMs":1,"kind":"command","command":"restart","container":0.5}]', 'faults[0].container'],
  ['[{"atMs":1,"kind":"clock-step","byMs":"1"}]', 'faults[0].byMs: expected a number, got "1"'],
  [
    '[{"atMs":1,"kind":"restart-storm","process":"scheduler#0","times":1.5,"afterMs":1,"forMs":1}]',
    'faults[0].times: expected a whole number',
  ],
  [
    '[{"atMs":1,"kind":"partition","between":[[],[]],"oneWay":1,"forMs":1}]',
    'faults[0].oneWay: expected true or false',
  ],
];

for (const [text, complaint] of REFUSED) {
  test(`refuses ${text}`, () => {
    assert.throws(
      () => parseFaultPlan(text),
      (error: unknown) => error instanceof Error && error.message.startsWith(complaint),
    );
  });
}
