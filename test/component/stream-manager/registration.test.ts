import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { assertDefined } from '../../../src/base/assert.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import {
  ENGINE_VERSION,
  RunningStreamManagers,
  TOKEN,
} from '../../support/running-stream-managers.ts';
import { ScriptedInstance } from '../../support/scripted-instance.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const plan = aPlanOf(topology, ['word', 1], ['count', 1]);
const welcome = {
  topologyName: topology.name,
  topologyId: topology.id,
  token: TOKEN,
  engineVersion: ENGINE_VERSION,
  creditBytes: 1_000,
};

async function register(t: TestContext, running: RunningStreamManagers, fields: object) {
  const instance = await ScriptedInstance.connect(t, running.managerOf(1).manager.ports.localData);
  const [word] = plan.instances;
  const answer = await instance.register(assertDefined(word, 'the plan has tasks'), {
    ...welcome,
    ...fields,
  });
  return { instance, answer };
}

describe('registration of instances', () => {
  it('is answered with the window, and the plan follows when all are there', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const { instance, answer } = await register(t, running, {});
    assert.equal(answer.status?.status, StatusCode.OK);
    assert.equal(answer.creditBytes, 1_048_576n);
    assert.equal(answer.pplan, undefined);
    assert.equal(running.master.registrations.size, 0);
    await running.instance(2);
    const given = await instance.plan();
    assert.deepEqual(
      given.instances.map(({ task }) => task),
      [1, 2],
    );
    assert.equal(given.topology.state, 'RUNNING');
    assert.deepEqual(
      running.master.registrations.get(plan.streamManagers[0]?.id as never)?.instances.length,
      2,
    );
  });

  it('of all is needed for the start: one that has gone meanwhile is waited for', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    running.master.holdsPlanBack = true;
    const [word, count] = [await running.instance(1), await running.instance(2)];
    await eventually(() => running.master.registrations.size === 1);
    word.kill();
    const { log } = running.managerOf(1);
    await eventually(() => log.includes('lost an instance'));
    running.master.publish();
    await eventually(() => log.includes('a plan is in force'));
    // What the plan would be followed by, had it been given.
    assert.ok(!log.includes('all instances and stream managers are connected'));
    assert.equal(count.plans.length, 0);
    const again = await running.instance(1);
    await Promise.all([again.plan(), count.plan()]);
  });

  it('of one that comes back is answered with the plan', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    await running.instances();
    const { answer } = await register(t, running, {});
    assert.notEqual(answer.pplan, undefined);
  });

  it('ends an older connection of the same instance', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    const { instance } = await register(t, running, {});
    await eventually(() => all.get(1)?.isClosed === true);
    instance.sendSet(tupleSetBytes({ task: 1, tuples: [aTuple('x')] }));
    await eventually(() => all.get(2)?.tupleCount === 1);
    assert.ok(!instance.isClosed);
  });

  const refused: [what: string, fields: object, words: RegExp][] = [
    ['another topology', { topologyName: 'lines' }, /words.*lines/],
    ['another submit', { topologyId: 'words-0' }, /words-1.*words-0/],
    ['a wrong token', { token: 'guess' }, /token/],
    ['another version', { engineVersion: '1.0.0' }, /9\.9\.9.*1\.0\.0/],
  ];
  for (const [what, fields, reason] of refused) {
    it(`is refused for ${what}, with the reason, and the connection ends`, async (t) => {
      const running = await RunningStreamManagers.start(t, plan);
      const { instance, answer } = await register(t, running, fields);
      assert.equal(answer.status?.status, StatusCode.NOTOK);
      assert.match(answer.status?.message ?? '', reason);
      await eventually(() => instance.isClosed);
    });
  }

  it('S41: of a process that was started earlier is refused, whichever comes first', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const { instance: first } = await register(t, running, { bootId: 'boot', startTicks: 7 });
    const { instance: later, answer } = await register(t, running, {
      bootId: 'boot',
      startTicks: 9,
    });
    assert.equal(answer.status?.status, StatusCode.OK);
    await eventually(() => first.isClosed);
    const { instance: back, answer: refusal } = await register(t, running, {
      bootId: 'boot',
      startTicks: 7,
    });
    assert.equal(refusal.status?.status, StatusCode.NOTOK);
    assert.match(refusal.status.message, /that was started later has registered/);
    assert.equal(refusal.replaced, true);
    await eventually(() => back.isClosed);
    assert.equal(later.isClosed, false);
  });

  it('comes before tuples: a connection that begins with tuples ends', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const port = running.managerOf(1).manager.ports.localData;
    const instance = await ScriptedInstance.connect(t, port);
    instance.sendSet(tupleSetBytes({ task: 1, tuples: [aTuple('x')] }));
    await eventually(() => instance.isClosed);
  });

  it('lets data that comes before the plan wait for it', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const { instance } = await register(t, running, {});
    instance.sendSet(tupleSetBytes({ task: 1, tuples: [aTuple('early')] }));
    instance.sendSet(tupleSetBytes({ task: 1, endOfInput: true }));
    const count = await running.instance(2);
    await eventually(() => count.endedTasks.length === 1);
    assert.equal(count.tupleCount, 1);
  });
});

describe('strangers', () => {
  const greetings: [what: string, bytes: Buffer][] = [
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: heron\r\n\r\n')],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
    ['noise', Buffer.alloc(4_096, 0xa5)],
  ];
  for (const port of ['data', 'localData'] as const) {
    for (const [what, bytes] of greetings) {
      it(`who send ${what} to the ${port} port disturb nobody`, async (t) => {
        const running = await RunningStreamManagers.start(t, plan);
        const all = await running.instances();
        const { manager } = running.managerOf(1);
        const socket = connect({ host: '127.0.0.1', port: manager.ports[port] });
        t.after(() => socket.destroy());
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(bytes);
        await once(socket, 'close');
        all.get(1)?.sendSet(tupleSetBytes({ task: 1, tuples: [aTuple('x')] }));
        await eventually(() => all.get(2)?.tupleCount === 1);
      });
    }
  }
});
