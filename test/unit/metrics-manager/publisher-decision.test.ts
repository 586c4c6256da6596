import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type PublisherFacts,
  publisherRefusal,
} from '../../../src/metrics-manager/publisher-decision.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

const OURS = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const MIXED = aTopology([aSpout('word'), aBolt('count', ['word'], { language: 'python' })]);
const THEIRS = aTopology([aSpout('word', { language: 'java' })]);

const FACTS: PublisherFacts = {
  component: 'word',
  token: 'secret',
  isRegistered: false,
  topology: OURS,
  ownToken: 'secret',
};

const ACCEPTED: ReadonlyArray<readonly [string, Partial<PublisherFacts>]> = [
  ['a component of ours', {}],
  ['a process of the engine', { component: '__stmgr__' }],
  ['a component of another engine', { topology: MIXED, component: 'count', token: undefined }],
  ['a process of another engine', { topology: THEIRS, component: '__stmgr__', token: undefined }],
];

for (const [name, change] of ACCEPTED) {
  test(`accepted: ${name}`, () => {
    assert.equal(publisherRefusal({ ...FACTS, ...change }), undefined);
  });
}

const REFUSED: ReadonlyArray<readonly [string, Partial<PublisherFacts>, RegExp]> = [
  ['a second one on a connection', { isRegistered: true }, /already/],
  ['a wrong token', { token: 'guess' }, /NOT_AUTHORIZED/],
  ['no token', { token: undefined }, /NOT_AUTHORIZED/],
  ['a component of ours in a mixed topology', { topology: MIXED, token: undefined }, /AUTHORIZED/],
  [
    'a stranger in a mixed topology',
    { topology: MIXED, component: '__stmgr__', token: undefined },
    /NOT_AUTHORIZED/,
  ],
  ['a wrong token among strangers', { topology: THEIRS, token: 'guess' }, /NOT_AUTHORIZED/],
];

for (const [name, change, reason] of REFUSED) {
  test(`refused: ${name}`, () => {
    assert.match(publisherRefusal({ ...FACTS, ...change }) ?? '', reason);
  });
}
