import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { epoch } from '../../../src/base/ids.ts';
import type { StreamManagerAddress } from '../../../src/model/physical-plan.ts';
import { encodePacket } from '../../../src/wire/frame.ts';
import { HeronTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';
import { Hello, StatusCode } from '../../../src/wire/messages.ts';
import { TUPLE_STREAM_TYPE } from '../../../src/wire/tuple-stream-message.ts';
import { eventually } from '../../support/eventually.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import {
  ENGINE_VERSION,
  type RunningOptions,
  RunningStreamManagers,
  TOKEN,
} from '../../support/running-stream-managers.ts';
import { ScriptedInstance } from '../../support/scripted-instance.ts';
import { type HelloFields, ScriptedPeer } from '../../support/scripted-peer.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word', { kind: 'all' })])]);
const plan = aPlanOf(topology, ['word', 1], ['count', 2]);

/** Registered instances of a plan that nobody has yet. */
async function beforeThePlan(t: TestContext, thePlan = plan) {
  const running = await RunningStreamManagers.start(t, thePlan);
  running.master.holdsPlanBack = true;
  const all = new Map<number, ScriptedInstance>();
  for (const { task } of thePlan.instances) all.set(task, await running.instance(task));
  await eventually(() => running.master.addresses.length === thePlan.streamManagers.length);
  return { running, all };
}

/** The addresses as they are, except that one container is dialled at another port. */
function dialledAt(running: RunningStreamManagers, container: number, dataPort: number) {
  return running.master.addresses.map(
    (address): StreamManagerAddress =>
      address.id === `stmgr-${container}` ? { ...address, dataPort } : address,
  );
}

function publish(
  running: RunningStreamManagers,
  number: number,
  addresses: readonly StreamManagerAddress[],
) {
  running.master.plan = { ...running.plan, epoch: epoch(number) };
  running.master.publish(addresses);
}

function numbered(from: number, to: number): Uint8Array {
  const tuples = [];
  for (let index = from; index < to; index += 1) tuples.push(aTuple(`${index}`.padStart(6, '0')));
  return tupleSetBytes({ task: 1, tuples });
}

/** By the digits behind the length of the text. */
const numbersOf = (instance: ScriptedInstance): number[] =>
  instance.firstValues.map((text) => Number(text.slice(1)));

describe('links between stream managers', () => {
  it('are all up before any instance gets the plan', async (t) => {
    const { running, all } = await beforeThePlan(t);
    const nobody = await FaultyProxy.start(t, 1);
    const { port } = nobody;
    nobody.close();
    publish(running, 1, dialledAt(running, 2, port));
    const manager = running.managerOf(1);
    await eventually(() => manager.log.includes('no connection with stmgr-2'));
    assert.equal(all.get(1)?.plans.length, 0);
    assert.equal(all.get(2)?.plans.length, 0);
    publish(running, 2, running.master.addresses);
    for (const instance of all.values()) assert.equal((await instance.plan()).epoch, 2);
  });

  it('are one a pair, dialled by the smaller container', async (t) => {
    const { running, all } = await beforeThePlan(t);
    const [one, two] = [
      await FaultyProxy.start(t, running.managerOf(1).manager.ports.data),
      await FaultyProxy.start(t, running.managerOf(2).manager.ports.data),
    ];
    const addresses = dialledAt(running, 2, two.port).map((address) =>
      address.id === 'stmgr-1' ? { ...address, dataPort: one.port } : address,
    );
    publish(running, 1, addresses);
    for (const instance of all.values()) await instance.plan();
    assert.equal(one.connections, 0);
    assert.equal(two.connections, 1);
  });

  it('come back when they are cut; nothing comes twice and losses are counted', async (t) => {
    const { running, all } = await beforeThePlan(t);
    const proxy = await FaultyProxy.start(t, running.managerOf(2).manager.ports.data);
    publish(running, 1, dialledAt(running, 2, proxy.port));
    const [word, count] = [all.get(1), all.get(2)];
    assert.ok(word !== undefined && count !== undefined);
    await word.plan();
    const manager = running.managerOf(1);
    for (let round = 0; round < 5; round += 1) {
      proxy.fault = { kind: 'cut', afterBytes: 10_000 + round };
      const connections = proxy.connections;
      word.sendSet(numbered(round * 2_000, (round + 1) * 2_000));
      await eventually(() => proxy.connections > connections);
    }
    word.sendSet(numbered(10_000, 10_100));
    await eventually(() => numbersOf(count).includes(10_099));
    const received = numbersOf(count);
    assert.deepEqual(
      received,
      [...new Set(received)].toSorted((a, b) => a - b),
    );
    const lost = manager.count('__client_stmgr-2/__tuples_to_stmgrs_lost');
    assert.ok(lost > 0);
    assert.ok(received.length + lost >= 10_100, `${received.length} came, ${lost} lost`);
  });

  it('work when they are slow', async (t) => {
    const { running, all } = await beforeThePlan(t);
    const proxy = await FaultyProxy.start(t, running.managerOf(2).manager.ports.data);
    proxy.fault = { kind: 'delay', ms: 20 };
    publish(running, 1, dialledAt(running, 2, proxy.port));
    const [word, count] = [all.get(1), all.get(2)];
    await word?.plan();
    word?.sendSet(numbered(0, 5_000));
    await eventually(() => count?.tupleCount === 5_000);
  });

  it('O35: follow the plan to 20 new addresses, and no old one is dialled again', async (t) => {
    const { running, all } = await beforeThePlan(t);
    const target = running.managerOf(2).manager.ports.data;
    const [word, count] = [all.get(1), all.get(2)];
    assert.ok(word !== undefined && count !== undefined);
    let proxy = await FaultyProxy.start(t, target);
    publish(running, 1, dialledAt(running, 2, proxy.port));
    await word.plan();
    for (let move = 2; move <= 20; move += 1) {
      const old = proxy;
      proxy = await FaultyProxy.start(t, target);
      publish(running, move, dialledAt(running, 2, proxy.port));
      await eventually(() => proxy.connections === 1);
      const seen = old.connections;
      old.cutNow();
      word.sendSet(numbered(move, move + 1));
      await eventually(() => numbersOf(count).includes(move));
      assert.equal(old.connections, seen);
      assert.equal(seen, 1);
    }
  });

  it('O35: do not wait for each other: a silent peer slows nobody else', async (t) => {
    const threePlan = aPlanOf(topology, ['word', 1], ['count', 2], ['count', 3]);
    const { running, all } = await beforeThePlan(t, threePlan);
    const proxy = await FaultyProxy.start(t, running.managerOf(2).manager.ports.data);
    publish(running, 1, dialledAt(running, 2, proxy.port));
    const [word, silent, other] = [all.get(1), all.get(2), all.get(3)];
    await word?.plan();
    proxy.fault = { kind: 'blackhole' };
    word?.sendSet(numbered(0, 5_000));
    await eventually(() => other?.tupleCount === 5_000);
    assert.equal(silent?.tupleCount, 0);
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    const { log } = running.managerOf(1);
    const isLinked = (entry: string): boolean => entry === 'linked with a stream manager';
    await eventually(() => log.filter(isLinked).length === 3);
    word?.sendSet(numbered(5_000, 5_001));
    await eventually(() => silent !== undefined && numbersOf(silent).includes(5_000));
  });
});

describe('a peer that says hello', () => {
  const threePlan = aPlanOf(topology, ['word', 1], ['count', 2]);
  const welcome = {
    topologyName: topology.name,
    topologyId: topology.id,
    streamManager: 'stmgr-1',
    token: TOKEN,
    engineVersion: ENGINE_VERSION,
    planEpoch: 1,
  };

  async function aPeer(t: TestContext, options: RunningOptions = {}) {
    const running = await RunningStreamManagers.start(t, threePlan, options);
    const all = await running.instances();
    const peer = await ScriptedPeer.connect(t, running.managerOf(2).manager.ports.data);
    return { running, all, peer };
  }

  it('takes the place of an older link, and gets credit for what it sends', async (t) => {
    const { all, peer } = await aPeer(t);
    const { status, engineVersion } = await peer.hello(welcome);
    assert.equal(status?.status, StatusCode.OK);
    assert.equal(engineVersion, ENGINE_VERSION);
    const set = numbered(0, 10);
    peer.sendSet(2, set, 1, 10);
    await eventually(() => all.get(2)?.tupleCount === 10);
    await eventually(() => peer.granted.get(2) === set.length);
  });

  const refused: [what: string, fields: Partial<HelloFields>, words: RegExp][] = [
    ['of another topology', { topologyId: 'words-0' }, /words-1.*words-0/],
    ['without the token', { token: 'guess' }, /token/],
    ['of another version', { engineVersion: '1.0.0' }, /9\.9\.9.*1\.0\.0/],
    ['by an older plan', { planEpoch: 0 }, /plan 1 is in force/],
    ['of a container that is to be dialled', { streamManager: 'stmgr-3' }, /stmgr-3/],
  ];
  for (const [what, fields, words] of refused) {
    it(`${what} is refused with the reason, and the link that is up stays`, async (t) => {
      const { all, peer } = await aPeer(t);
      const { status } = await peer.hello({ ...welcome, ...fields });
      assert.equal(status?.status, StatusCode.NOTOK);
      assert.match(status?.message ?? '', words);
      await eventually(() => !peer.connection.isOpen);
      all.get(1)?.sendSet(numbered(0, 1));
      await eventually(() => all.get(2)?.tupleCount === 1);
    });
  }

  for (const [what, planEpoch, stays] of [
    ['an older plan loses its link', 1, false],
    ['that plan keeps its link', 2, true],
  ] as const) {
    it(`from where a plan has moved it away: by ${what}`, async (t) => {
      const { running, peer } = await aPeer(t);
      // The real one would dial again, and take the place of the scripted one.
      await running.managerOf(1).stop();
      await peer.hello({ ...welcome, planEpoch });
      publish(running, 2, dialledAt(running, 1, 1));
      const manager = running.managerOf(2);
      await eventually(
        () => manager.log.filter((entry) => entry === 'a plan is in force').length === 2,
      );
      await eventually(() => peer.connection.isOpen === stays);
    });
  }

  it('before there is a plan is linked, and gets its tuples when there is one', async (t) => {
    const back = aPlanOf(topology, ['count', 1], ['word', 2]);
    const { running, all } = await beforeThePlan(t, back);
    await running.managerOf(1).stop();
    const peer = await ScriptedPeer.connect(t, running.managerOf(2).manager.ports.data);
    const { status } = await peer.hello(welcome);
    assert.equal(status?.status, StatusCode.OK);
    publish(running, 1, running.master.addresses);
    const word = all.get(2);
    await word?.plan();
    const set = tupleSetBytes({ task: 2, tuples: [aTuple('x')] });
    word?.sendSet(set);
    await eventually(() => peer.sets.length === 1);
    assert.deepEqual(peer.sets, [[1, Buffer.from(set)]]);
  });

  it('is told behind the answer of acks that were lost while there was no link', async (t) => {
    const config = new Map([['topology.reliability.mode', 'ATLEAST_ONCE']]);
    const { running, all, peer } = await aPeer(t, { config });
    await running.managerOf(1).stop();
    await peer.hello(welcome);
    const tuple = { ...aTuple('x'), key: 3n, roots: [{ task: 1, key: 7n }] };
    peer.sendSet(2, tupleSetBytes({ task: 1, tuples: [tuple] }), 1, 1);
    const count = all.get(2);
    await eventually(() => count?.tupleCount === 1);
    const { manager, log } = running.managerOf(2);
    const losses = (): number => log.filter((line) => line === 'lost a stream manager').length;
    const before = losses();
    peer.connection.abort();
    await eventually(() => losses() > before);
    const ack = { roots: [{ taskid: 1, key: 7n }], ackedtuple: 3n };
    const acks = create(HeronTupleSetSchema, { srcTaskId: 2, control: { acks: [ack] } });
    count?.sendSet(toBinary(HeronTupleSetSchema, acks));
    const acked = (): number => running.managerOf(2).count('__server/__ack_tuples_from_workers');
    await eventually(() => acked() === 1);
    const next = await ScriptedInstance.connect(t, manager.ports.data);
    const hello = Hello.request.create({
      topologyName: topology.name,
      topologyId: topology.id,
      stmgr: 'stmgr-1',
      token: TOKEN,
      engineVersion: ENGINE_VERSION,
      planEpoch: 1n,
    });
    const { request, response } = Hello;
    next.sendBytes(encodePacket(request.typeName, Buffer.alloc(32, 7), request.encode(hello)));
    await eventually(() => next.packets.length === 2);
    const [answer, losing] = next.packets;
    assert.equal(answer?.typeName, response.typeName);
    assert.equal(losing?.typeName, TUPLE_STREAM_TYPE);
  });

  it('is heard only then: tuples before it end the connection', async (t) => {
    const { all, peer } = await aPeer(t);
    peer.sendSet(2, numbered(0, 10), 1, 10);
    await eventually(() => !peer.connection.isOpen);
    assert.equal(all.get(2)?.tupleCount, 0);
  });

  it('may name a task that is not here: a count, no more', async (t) => {
    const { running, peer } = await aPeer(t);
    await peer.hello(welcome);
    peer.sendSet(77, numbered(0, 10), 1, 10);
    const manager = running.managerOf(2);
    await eventually(() => manager.count('__server/__tuples_without_destination') === 10);
    assert.ok(peer.connection.isOpen);
  });
});
