import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instanceId, taskId } from '../../../src/base/ids.ts';
import type { InstanceAddress, PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, PATIENTLY } from '../../support/instance-in-test.ts';
import { settledSet } from '../../support/tracked-task.ts';
import { aTuple } from '../../support/tuple-sets.ts';

/* The real process of an instance while an update of its topology is under way. */

const config = {
  'heron.instance.reconnect.streammgr.interval.ms': '20',
  'heron.instance.reconnect.metricsmgr.interval.ms': '20',
};

/** The instances of a plan, of which some are changed; undefined: it has left. */
function instancesOf(
  { instances }: PhysicalPlan,
  changes: Readonly<Record<number, Partial<InstanceAddress> | undefined>>,
): readonly InstanceAddress[] {
  return instances.flatMap((one) => {
    if (!(one.task in changes)) return [one];
    const change = changes[one.task];
    return change === undefined ? [] : [{ ...one, ...change }];
  });
}

/** Another task of `words`, beside task 1. */
function another(plan: PhysicalPlan, change: Partial<InstanceAddress>): InstanceAddress {
  const [first] = plan.instances;
  assert.ok(first);
  const id = instanceId('container_1_words_9');
  return { ...first, id, task: taskId(9), componentIndex: 1, ...change };
}

describe('an update', () => {
  it('is told to the component, unless it can see nothing of it', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'tell', config });
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    const instances = [...partners.plan.instances, another(partners.plan, {})];
    partners.givePlan({ instances });
    await eventually(() => partners.seen.includes('default: 0/2/undefined'), PATIENTLY);
    const { topology } = partners.plan;
    partners.givePlan({ streamManagers: partners.plan.streamManagers.slice(1) });
    const changed = new Map([...topology.config, ['color:runtime', 'red']]);
    partners.givePlan({ topology: { ...topology, config: changed } });
    await eventually(() => partners.seen.includes('default: 0/2/red'), PATIENTLY);
    assert.equal(partners.seen.length, 2);
  });

  it('that takes a spout away drains it, and nothing in hand is lost', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      script: 'messages 3',
      config: { ...config, 'topology.reliability.mode': 'ATLEAST_ONCE' },
    });
    await eventually(() => partners.rootKeys.length === 3, PATIENTLY);
    partners.givePlan({ instances: instancesOf(partners.plan, { 1: { isRetiring: true } }) });
    const [first = 0n, second = 0n, third = 0n] = partners.rootKeys;
    assert.ok(third !== 0n);
    partners.sendSet(settledSet({ acks: [{ key: first }, { key: second }] }));
    assert.ok(!partners.seen.includes('end 1'), 'one is under way');
    partners.sendSet(settledSet({ acks: [{ key: third }] }));
    await eventually(() => partners.seen.includes('end 1'), PATIENTLY);
  });

  it('makes a spout wait until its place is free', async (t) => {
    const instance = await InstanceInTest.start(t, {
      script: 'count 3',
      config,
      beforeStart(partners) {
        const old = another(partners.plan, { componentIndex: 0, isRetiring: true });
        partners.plan = { ...partners.plan, instances: [...partners.plan.instances, old] };
      },
    });
    const { partners } = instance;
    await eventually(
      async () => (await instance.log('task')).includes('waits until the task that had its place'),
      PATIENTLY,
    );
    assert.deepEqual(partners.seen, []);
    partners.givePlan({ instances: instancesOf(partners.plan, { 9: undefined }) });
    await eventually(() => partners.seen.includes('end 1'), PATIENTLY);
    assert.deepEqual(partners.seen, ['default: 1 2 3', 'end 1']);
  });

  it('a bolt waits for the end of a task that is new, and for none that has left', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      component: 'work',
      script: 'echo',
      config,
    });
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    const instances = [...partners.plan.instances, another(partners.plan, {})];
    // In one go: the plan goes by message and the end through the ring, which may be read first.
    partners.givePlan({ instances });
    partners.send({ endOfInput: true });
    partners.send({ task: 9, tuples: [aTuple('late')] });
    await eventually(() => partners.seen.includes('default: late'), PATIENTLY);
    assert.ok(!partners.seen.includes('end 2'));
    partners.givePlan({ instances: instancesOf(partners.plan, { 9: undefined }) });
    await eventually(() => partners.seen.includes('end 2'), PATIENTLY);
  });

  it('a plan without the instance changes nothing before it is stopped', async (t) => {
    const instance = await InstanceInTest.start(t, { component: 'work', script: 'echo', config });
    const { partners } = instance;
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    partners.givePlan({ instances: instancesOf(partners.plan, { 2: undefined }) });
    partners.send({ tuples: [aTuple('a')] });
    await eventually(() => partners.seen.includes('default: a'), PATIENTLY);
    instance.terminate();
    assert.deepEqual(await instance.end, { code: 0, signal: null, stderr: '' });
  });
});
