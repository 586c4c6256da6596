import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epoch, topologyId } from '../../../src/base/ids.ts';
import {
  decideLocation,
  type LocationDecision,
  type SeenLocation,
} from '../../../src/topology-master/location-decision.ts';

const location = (number: number, id = 'words-1'): SeenLocation => ({
  topologyId: topologyId(id),
  epoch: epoch(number),
});

type Kind = LocationDecision['kind'];
interface Row {
  readonly when: string;
  readonly seen: SeenLocation | undefined;
  readonly starting: Kind;
  readonly serving: Kind;
}

/** What a master of epoch 5 does, before it has had the node and after. */
const ROWS: readonly Row[] = [
  { when: 'there is no node', seen: undefined, starting: 'create', serving: 'create' },
  { when: 'the node is its own', seen: location(5), starting: 'serve', serving: 'serve' },
  { when: 'an older one lives', seen: location(4), starting: 'wait', serving: 'wait' },
  { when: 'another engine’s lives', seen: location(0), starting: 'wait', serving: 'wait' },
  { when: 'a newer one serves', seen: location(6), starting: 'step-down', serving: 'step-down' },
  {
    when: 'another topology has the name',
    seen: location(9, 'words-2'),
    starting: 'wait',
    serving: 'step-down',
  },
];

for (const { when, seen, starting, serving } of ROWS) {
  test(`${when}: ${starting} at the start, ${serving} while serving`, () => {
    const own = location(5);
    assert.equal(decideLocation({ own, seen, isServing: false }).kind, starting);
    assert.equal(decideLocation({ own, seen, isServing: true }).kind, serving);
  });
}

test('a step down names both epochs', () => {
  const decision = decideLocation({ own: location(5), seen: location(6), isServing: true });
  assert.ok(decision.kind === 'step-down');
  assert.match(decision.reason, /epoch 6, this one has 5/);
});
