import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  containerId,
  epoch,
  streamManagerId,
  topologyId,
  topologyName,
} from '../../../src/base/ids.ts';
import type { StreamManagerAddress } from '../../../src/model/physical-plan.ts';
import {
  type HelloClaim,
  type HelloFacts,
  hasMoved,
  refusalOfHello,
} from '../../../src/stream-manager/hello.ts';

const one: StreamManagerAddress = {
  id: streamManagerId('stmgr-1'),
  host: '127.0.0.1',
  dataPort: 4_001,
  localDataPort: 5_001,
  workingDirectory: '/',
  pid: 11,
  shellPort: 0,
};

const facts: HelloFacts = {
  own: {
    topologyName: topologyName('words'),
    topologyId: topologyId('words-1'),
    token: 'secret',
    engineVersion: '1.2.3',
  },
  ownContainer: containerId(3),
  plan: { epoch: epoch(5), streamManagers: [one] },
};

function claim(changes: Partial<HelloClaim> = {}): HelloClaim {
  return {
    topologyName: 'words',
    topologyId: 'words-1',
    token: 'secret',
    engineVersion: '1.2.3',
    streamManager: one.id,
    planEpoch: epoch(5),
    ...changes,
  };
}

describe('refusalOfHello', () => {
  const welcome: [what: string, claim: HelloClaim, facts: HelloFacts][] = [
    ['a stream manager of the plan', claim(), facts],
    ['one with a newer plan', claim({ planEpoch: epoch(6) }), facts],
    [
      'one that only a newer plan knows',
      claim({ planEpoch: epoch(6), streamManager: streamManagerId('stmgr-2') }),
      facts,
    ],
    ['one that comes before our first plan', claim(), { ...facts, plan: undefined }],
  ];
  for (const [what, welcomeClaim, ownFacts] of welcome) {
    it(`welcomes ${what}`, () => {
      assert.equal(refusalOfHello(welcomeClaim, ownFacts), undefined);
    });
  }

  const refused: [what: string, claim: HelloClaim, code: string][] = [
    ['an older plan', claim({ planEpoch: epoch(4) }), 'STALE_EPOCH'],
    ['another topology', claim({ topologyId: 'words-0' }), 'WRONG_TOPOLOGY'],
    ['a wrong token', claim({ token: 'guess' }), 'NOT_AUTHORIZED'],
    ['no token', claim({ token: undefined }), 'NOT_AUTHORIZED'],
    ['another version', claim({ engineVersion: undefined }), 'VERSION_MISMATCH'],
    ['an unknown one', claim({ streamManager: streamManagerId('stmgr-2') }), 'NOT_EXPECTED'],
    ['ourselves', claim({ streamManager: streamManagerId('stmgr-3') }), 'NOT_EXPECTED'],
    ['one that we dial', claim({ streamManager: streamManagerId('stmgr-4') }), 'NOT_EXPECTED'],
    ['no stream manager', claim({ streamManager: streamManagerId('bolt') }), 'NOT_EXPECTED'],
  ];
  for (const [what, refusedClaim, code] of refused) {
    it(`refuses ${what}`, () => {
      assert.equal(refusalOfHello(refusedClaim, facts)?.code, code);
    });
  }

  it('refuses strangers before the first plan, too', () => {
    const early = { ...facts, plan: undefined };
    assert.equal(refusalOfHello(claim({ token: 'guess' }), early)?.code, 'NOT_AUTHORIZED');
  });
});

describe('hasMoved', () => {
  it('looks at the address that peers dial and at nothing else', () => {
    assert.ok(!hasMoved(one, { ...one, pid: 12, shellPort: 9, localDataPort: 1 }));
    assert.ok(hasMoved(one, { ...one, host: '127.0.0.2' }));
    assert.ok(hasMoved(one, { ...one, dataPort: 4_002 }));
  });
});
