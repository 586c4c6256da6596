import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epoch, streamManagerId } from '../../../src/base/ids.ts';
import {
  decideRegistration,
  type RegistrationClaim,
  type RegistrationFacts,
} from '../../../src/topology-master/registration-decision.ts';
import { aPackingPlan, anAddress, anInstance } from '../../support/placements.ts';

const CLAIM: RegistrationClaim = {
  address: anAddress(1),
  instances: [anInstance(1, 2), anInstance(1, 1)],
  token: 'secret',
  engineVersion: '1.0.0',
  masterEpoch: epoch(5),
};

const FACTS: RegistrationFacts = {
  claim: CLAIM,
  packing: aPackingPlan([2, 1]),
  inForce: undefined,
  token: 'secret',
  engineVersion: '1.0.0',
  isForeign: false,
  masterEpoch: epoch(5),
  holder: undefined,
  nowMs: 100_000,
  timeoutMs: 10_000,
};

const claiming = (change: Partial<RegistrationClaim>): RegistrationFacts => ({
  ...FACTS,
  claim: { ...CLAIM, ...change },
});
const heldBy = (pid: number, lastHeardMs: number): RegistrationFacts => ({
  ...FACTS,
  holder: { address: anAddress(1, { pid }), lastHeardMs },
});
const OWN_PID = CLAIM.address.pid;

/** The packing plan has lost task 2, which the plan in force still has. */
function updating(): RegistrationFacts {
  const instances = [anInstance(1, 1), anInstance(1, 2), anInstance(2, 3)];
  const inForce = { streamManagers: [anAddress(1), anAddress(2)], instances };
  return { ...FACTS, packing: aPackingPlan([1, 1]), inForce };
}

const REINDEXED = [
  { ...anInstance(1, 1), componentIndex: 7 },
  { ...anInstance(1, 2), isRetiring: true },
];

const ACCEPTED: ReadonlyArray<readonly [string, RegistrationFacts]> = [
  ['as the packing plan says', FACTS],
  ['with an older epoch of the master', claiming({ masterEpoch: epoch(4) })],
  ['without an epoch', claiming({ masterEpoch: epoch(0) })],
  ['as the plan in force says, while the packing plan is another one', updating()],
  ['with other indexes and marks than the packing plan', claiming({ instances: REINDEXED })],
  [
    'from another engine in a topology of its own',
    { ...claiming({ token: undefined, engineVersion: undefined }), isForeign: true },
  ],
];

for (const [name, facts] of ACCEPTED) {
  test(`accepted: ${name}`, () => {
    assert.deepEqual(decideRegistration(facts), { kind: 'accept' });
  });
}

const REFUSED: ReadonlyArray<readonly [string, RegistrationFacts, string, RegExp]> = [
  ['a wrong token', claiming({ token: 'guess' }), 'NOTOK', /^NOT_AUTHORIZED/],
  ['no token', claiming({ token: undefined }), 'NOTOK', /^NOT_AUTHORIZED/],
  [
    'a wrong token in a topology of another engine',
    { ...claiming({ token: 'guess' }), isForeign: true },
    'NOTOK',
    /^NOT_AUTHORIZED/,
  ],
  [
    'another version',
    claiming({ engineVersion: '0.9.0' }),
    'NOTOK',
    /^VERSION_MISMATCH.*1\.0\.0, stmgr-1 is 0\.9\.0/,
  ],
  ['no version', claiming({ engineVersion: undefined }), 'NOTOK', /stmgr-1 is unknown/],
  [
    'an id that is not expected',
    claiming({ address: anAddress(3) }),
    'INVALID_STMGR',
    /stmgr-3 is not in the packing plan/,
  ],
  [
    'an id that is no container’s',
    claiming({ address: anAddress(1, { id: streamManagerId('x') }) }),
    'INVALID_STMGR',
    /x is not in/,
  ],
  [
    'an instance too few',
    claiming({ instances: [anInstance(1, 1)] }),
    'NOTOK',
    /^NOT_EXPECTED.*word_1; the packing plan says container_1_word_1, container_1_word_2/,
  ],
  ['no instances', claiming({ instances: [] }), 'NOTOK', /serves none/],
  [
    'what neither plan says',
    { ...updating(), claim: { ...CLAIM, instances: [anInstance(1, 9)] } },
    'NOTOK',
    /^NOT_EXPECTED/,
  ],
  ['a live holder of the id', heldBy(1, 95_000), 'DUPLICATE_STRMGR', /served by process 1 on/],
  ['a holder at the very limit', heldBy(1, 90_000), 'DUPLICATE_STRMGR', /already served/],
];

for (const [name, facts, status, reason] of REFUSED) {
  test(`refused: ${name}`, () => {
    const decision = decideRegistration(facts);
    assert.ok(decision.kind === 'refuse');
    assert.equal(decision.status, status);
    assert.match(decision.reason, reason);
  });
}

test('a holder that has fallen silent is replaced', () => {
  assert.deepEqual(decideRegistration(heldBy(1, 89_999)), { kind: 'replace' });
});

test('a process that comes back replaces its own old connection at once', () => {
  assert.deepEqual(decideRegistration(heldBy(OWN_PID, 99_999)), { kind: 'replace' });
});

test('a sender that knows a newer master ends this one', () => {
  const decision = decideRegistration(claiming({ masterEpoch: epoch(6) }));
  assert.equal(decision.kind, 'step-down');
});

test('a sender without the token cannot end this master', () => {
  const decision = decideRegistration(claiming({ masterEpoch: epoch(6), token: 'guess' }));
  assert.equal(decision.kind, 'refuse');
});

test('only what another packing plan could make right is looked at again', () => {
  const isMisplaced = (facts: RegistrationFacts) => {
    const decision = decideRegistration(facts);
    return decision.kind === 'refuse' && decision.isMisplaced;
  };
  assert.equal(isMisplaced(claiming({ instances: [] })), true);
  assert.equal(isMisplaced(claiming({ address: anAddress(3) })), true);
  assert.equal(isMisplaced(claiming({ token: 'guess' })), false);
  assert.equal(isMisplaced(heldBy(1, 99_999)), false);
});
