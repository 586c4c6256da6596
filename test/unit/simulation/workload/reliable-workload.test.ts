import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { describeReliableWorkload } from '../../../../src/simulation/workload/reliable-workload.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import { isAtLeastOnce } from '../../../../src/simulation/workload/workload-description.ts';
import { packingOf } from '../checkers/finished-run.ts';

const PLANS = Array.from({ length: 400 }, (_, seed) =>
  describeReliableWorkload(createSeededRandom(seed)),
);

test('every workload is a valid topology that runs at least once and can be packed', () => {
  for (const plan of PLANS) {
    assert.ok(isAtLeastOnce(plan));
    const workload = createWorkload(plan);
    assert.equal(packingOf(workload).containers.length, plan.containers);
    assert.equal(
      workload.topology.topology.config.get('topology.reliability.mode'),
      'ATLEAST_ONCE',
    );
  }
});

test('a seed always makes the same workload', () => {
  assert.deepEqual(describeReliableWorkload(createSeededRandom(7)), PLANS[7]);
});

test('among the seeds there is everything that such a workload can have', () => {
  const spouts = PLANS.flatMap((plan) => plan.spouts);
  const replays = spouts.flatMap(({ replay }) => replay ?? []);
  const actings = PLANS.flatMap((plan) => plan.bolts.flatMap(({ acking }) => acking ?? []));
  const mishaps = actings.flatMap((acking) => acking.mishaps);
  assert.ok(spouts.some(({ withMessageIds }) => !withMessageIds));
  assert.ok(spouts.some(({ withMessageIds, replay }) => withMessageIds && replay === undefined));
  assert.ok(replays.some(({ endsEarly }) => endsEarly) && replays.some(({ afterMs }) => afterMs));
  assert.ok(replays.some(({ failuresMax }) => failuresMax !== undefined));
  assert.ok(actings.some(({ isAnchored }) => !isAnchored));
  assert.ok(actings.some(({ batch }) => batch !== undefined));
  assert.ok(actings.some(({ acksTwice }) => acksTwice));
  assert.deepEqual([...new Set(mishaps.map(({ kind }) => kind))].toSorted(), [
    'fail',
    'forget',
    'throw',
  ]);
  const keys = new Set(PLANS.flatMap(({ config }) => Object.keys(config)));
  assert.ok(keys.has('topology.droptuples.upon.backpressure'));
  assert.ok(keys.has('topology.backpressure.scope'));
  assert.ok(keys.has('heron.streammgr.backpressure.lease.ms'));
});

test('without time-outs bolts die as with them, but none forgets a tuple', () => {
  const untimed = PLANS.filter(
    ({ config }) => config['topology.enable.message.timeouts'] === 'false',
  );
  const bolts = untimed.flatMap((plan) => plan.bolts);
  const kindsOf = ({ acking }: (typeof bolts)[number]): readonly string[] =>
    acking?.mishaps.map(({ kind }) => kind) ?? [];
  assert.ok(bolts.some((bolt) => bolt.base === 'plain' && kindsOf(bolt).includes('throw')));
  assert.ok(bolts.some(({ faults }) => faults.some(({ kind }) => kind === 'throw')));
  assert.ok(!bolts.some((bolt) => kindsOf(bolt).includes('forget')));
});

test('a spout that says its end early emits again at once, and from calls only', () => {
  for (const { pace, replay } of PLANS.flatMap((plan) => plan.spouts)) {
    if (replay?.endsEarly !== true) continue;
    assert.equal(replay.afterMs, 0);
    assert.notEqual(pace.kind, 'timer');
  }
});
