import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import {
  type Membership,
  type MembershipClaim,
  refusalOfProcess,
  refusalOfTopology,
} from '../../../src/stream-manager/membership.ts';

const own: Membership = {
  topologyName: topologyName('words'),
  topologyId: topologyId('words-1'),
  token: 'secret',
  engineVersion: '1.2.3',
};
const claim: MembershipClaim = { ...own };

describe('membership', () => {
  it('is shared by processes that agree in everything', () => {
    assert.equal(refusalOfTopology(claim, own), undefined);
    assert.equal(refusalOfProcess(claim, own), undefined);
  });

  it('needs the same name and the same submit', () => {
    assert.equal(refusalOfTopology({ ...claim, topologyName: 'x' }, own)?.code, 'WRONG_TOPOLOGY');
    assert.equal(refusalOfTopology({ ...claim, topologyId: 'x' }, own)?.code, 'WRONG_TOPOLOGY');
  });

  it('looks at the token before it tells its version', () => {
    const refusal = refusalOfProcess({ ...claim, token: 'guess', engineVersion: '1.0.0' }, own);
    assert.equal(refusal?.code, 'NOT_AUTHORIZED');
    assert.doesNotMatch(refusal?.why ?? '', /1\.2\.3|secret|guess/);
  });

  it('names both versions when they differ, or says that one is unknown', () => {
    const differs = refusalOfProcess({ ...claim, engineVersion: '1.0.0' }, own);
    assert.match(differs?.why ?? '', /1\.2\.3.*1\.0\.0/);
    const unknown = refusalOfProcess({ ...claim, engineVersion: undefined }, own);
    assert.match(unknown?.why ?? '', /unknown/);
  });
});
