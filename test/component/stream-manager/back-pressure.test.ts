import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import type { ConfigMap } from '../../../src/model/logical-topology.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { FailKind, HeronTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';
import { StartBackPressure, StopBackPressure } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import {
  ENGINE_VERSION,
  RunningStreamManagers,
  TOKEN,
} from '../../support/running-stream-managers.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { readTupleSet, tupleSetBytes } from '../../support/tuple-sets.ts';

/* Back pressure by the marks, over real sockets (cases O01, O03, O05, O06, O08). */

const CREDIT = 65_536;
const HIGH = 131_072;
const LEASE_MS = 300;
const CONFIG: ConfigMap = new Map([
  ['heron.streammgr.credit.bytes', `${CREDIT}`],
  ['heron.instance.credit.bytes', `${4 * HIGH}`],
  ['heron.streammgr.backpressure.high.bytes', `${HIGH}`],
  ['heron.streammgr.backpressure.lease.ms', `${LEASE_MS}`],
]);
const DROPPING: ConfigMap = new Map([...CONFIG, ['topology.droptuples.upon.backpressure', 'true']]);

const ACKING = ['topology.reliability.mode', 'ATLEAST_ONCE'] as const;

const topology = aTopology([
  aSpout('word'),
  aSpout('number'),
  aBolt('slow', [anInput('word', { kind: 'direct' })]),
  aBolt('sum', [anInput('number')]),
]);
/** Tasks 1 to 4 in container 1, 5 and 6 in container 2. */
const plan = aPlanOf(
  topology,
  ...([
    ['word', 1],
    ['number', 1],
    ['slow', 1],
    ['sum', 1],
  ] as const),
  ...([
    ['word', 2],
    ['slow', 2],
  ] as const),
);

const SETS = 40;
/** 8 KiB in ten tuples for one task; forty of them are more than window and high mark hold. */
function setFor(destination: number, source = 1): Uint8Array {
  const value = Buffer.alloc(800, destination);
  const tuples = Array.from({ length: 10 }, () => ({
    values: [value],
    destinations: [destination],
  }));
  return tupleSetBytes({ task: source, tuples });
}

function flood(source: ScriptedInstance, destination: number, sets = SETS): void {
  for (let index = 0; index < sets; index += 1) source.sendSet(setFor(destination));
}

/** One tuple of 8 KiB, the only one of a tree, from task 1. */
function trackedSet(destination: number, key: bigint): Uint8Array {
  const values = [Buffer.alloc(8_192, destination)];
  const tuple = { values, destinations: [destination], roots: [{ task: 1, key }] };
  return tupleSetBytes({ task: 1, tuples: [tuple] });
}

/** Acks every tuple that has come. */
function ackAll(instance: ScriptedInstance, task: number): void {
  const acks = instance.sets.flatMap((set) =>
    (readTupleSet(set).data?.tuples ?? []).map(({ roots, key }) => ({ roots, ackedtuple: key })),
  );
  const set = create(HeronTupleSetSchema, { srcTaskId: task, control: { acks } });
  instance.sendSet(toBinary(HeronTupleSetSchema, set));
}

async function start(t: TestContext, config = CONFIG, thePlan: PhysicalPlan = plan) {
  const running = await RunningStreamManagers.start(t, thePlan, { config });
  const all = await running.instances();
  const instance = (task: number): ScriptedInstance => {
    const found = all.get(task);
    assert.ok(found !== undefined, `task ${task} is in the plan`);
    return found;
  };
  return { running, instance };
}

/** A scripted stream manager in the place of the one of container 1. */
async function aPeer(t: TestContext, config = CONFIG) {
  const { running, instance } = await start(t, config);
  await running.managerOf(1).stop();
  const { manager } = running.managerOf(2);
  const connect = async (): Promise<ScriptedPeer> => {
    const peer = await ScriptedPeer.connect(t, manager.ports.data);
    await peer.hello({
      topologyName: plan.topology.name,
      topologyId: plan.topology.id,
      streamManager: 'stmgr-1',
      token: TOKEN,
      engineVersion: ENGINE_VERSION,
      planEpoch: 1,
    });
    assert.deepEqual(peer.pressure, [], 'nothing comes before the answer to the hello');
    return peer;
  };
  const fields = {
    topologyName: plan.topology.name,
    topologyId: plan.topology.id,
    stmgr: 'stmgr-1',
    messageId: 'x',
  };
  // Its own tasks went away with the stream manager, which holds the spouts as well.
  const peer = await connect();
  await eventually(() => manager.backPressure.announced.length === 0);
  await eventually(() => instance(5).holds.at(-1) === undefined);
  instance(5).holds.length = 0;
  return { running, instance, manager, peer, connect, fields };
}

describe('a slow bolt', () => {
  it('O03: holds the spouts that feed it, in all containers, and no others', async (t) => {
    const { running, instance } = await start(t);
    instance(3).isSlow = true;
    flood(instance(1), 3);
    await eventually(() => instance(1).holds.length === 1 && instance(5).holds.length === 1);
    assert.deepEqual(instance(1).holds, ['slow by stmgr-1']);
    assert.deepEqual(instance(5).holds, ['slow by stmgr-1']);
    assert.deepEqual([...running.managerOf(2).manager.backPressure.held], [5]);
    instance(3).isSlow = false;
    instance(3).consume();
    await eventually(() => instance(5).holds.length === 2);
    assert.deepEqual(instance(1).holds, ['slow by stmgr-1', undefined]);
    assert.deepEqual(instance(5).holds, ['slow by stmgr-1', undefined]);
    await eventually(() => instance(3).tupleCount === SETS * 10);
    assert.deepEqual(instance(2).holds, []);
    for (const task of [3, 4, 6]) assert.deepEqual(instance(task).holds, []);
  });

  it('is announced by the one whose queue it fills, wherever the bolt is', async (t) => {
    const { running, instance } = await start(t);
    instance(6).isSlow = true;
    flood(instance(1), 6);
    await eventually(() => instance(5).holds.length === 1);
    assert.deepEqual(instance(5).holds, ['slow by stmgr-1']);
    assert.deepEqual(running.managerOf(2).manager.backPressure.announced, []);
  });

  it('that is killed and comes back lets the spouts go on', async (t) => {
    const { running, instance } = await start(t);
    instance(3).kill();
    await eventually(() => instance(5).holds.length === 1);
    assert.deepEqual(instance(1).holds, ['slow by stmgr-1']);
    await running.instance(3);
    await eventually(() => instance(1).holds.length === 2 && instance(5).holds.length === 2);
    assert.deepEqual(instance(5).holds, ['slow by stmgr-1', undefined]);
  });

  it('that goes away when all that feeds it has ended holds nobody', async (t) => {
    const { running, instance } = await start(t);
    const { log } = running.managerOf(1);
    for (const task of [1, 5]) instance(task).sendSet(tupleSetBytes({ task, endOfInput: true }));
    await eventually(() => instance(3).endedTasks.length === 2);
    instance(3).kill();
    await eventually(() => log.includes('lost an instance'));
    await running.instance(3); // Whatever there is to say has been said by then.
    assert.ok(!log.includes('a task is behind: spouts hold'));
    instance(4).kill();
    await eventually(() => log.includes('a task is behind: spouts hold'));
  });

  it('is told to a spout that connects anew', async (t) => {
    const { running, instance } = await start(t);
    instance(3).isSlow = true;
    flood(instance(1), 3);
    await eventually(() => instance(1).holds.length === 1);
    instance(1).kill();
    const successor = await running.instance(1);
    await eventually(() => successor.holds.length === 1);
    assert.deepEqual(successor.holds, ['slow by stmgr-1']);
  });
});

describe('a foreign spout', () => {
  const python = aTopology([
    aSpout('word', { language: 'python' }),
    aBolt('slow', [anInput('word', { kind: 'direct' })]),
    aBolt('quick', [anInput('word', { kind: 'direct' })]),
  ]);

  it('is held by its socket, as long as it is held or its tuples wait', async (t) => {
    const pythonPlan = aPlanOf(python, ['word', 1], ['slow', 1], ['quick', 1]);
    const { running, instance } = await start(t, CONFIG, pythonPlan);
    const { manager } = running.managerOf(1);
    const taken = (): number => running.managerOf(1).count('__server/__tuples_from_workers');
    instance(2).kill();
    await eventually(() => manager.backPressure.held.size === 1);
    // None of it waits for credit: what stops the socket is back pressure alone.
    flood(instance(1), 3, 3_000);
    let before = -1;
    await eventually(() => {
      const stands = taken() === before && instance(1).unsentBytes > 0;
      before = taken();
      return stands;
    });
    assert.ok(taken() < 10_000, `${taken()} tuples were read`);
    await running.instance(2);
    await eventually(() => taken() === 30_000);
    assert.equal(instance(1).unsentBytes, 0);
  });
});

describe('messages of another stream manager', () => {
  it('hold until the lease is over, and no longer (O01)', async (t) => {
    const { instance, peer, fields } = await aPeer(t);
    const held = { ...fields, component: 'slow', taskId: 3 };
    peer.connection.send(
      StartBackPressure,
      StartBackPressure.create({ ...held, leaseMs: BigInt(LEASE_MS) }),
    );
    await eventually(() => instance(5).holds.length === 1);
    await eventually(() => instance(5).holds.length === 2);
    assert.deepEqual(instance(5).holds, ['slow by stmgr-1', undefined]);
  });

  it('hold all spouts without fields of ours, until stop (R12)', async (t) => {
    const { instance, manager, peer, fields } = await aPeer(t);
    peer.connection.send(StartBackPressure, StartBackPressure.create(fields));
    await eventually(() => instance(5).holds.length === 1);
    assert.deepEqual(instance(5).holds, [' by stmgr-1']);
    assert.equal(manager.backPressure.holds[0]?.untilMs, undefined);
    peer.connection.send(StopBackPressure, StopBackPressure.create(fields));
    await eventually(() => instance(5).holds.length === 2);
  });

  it('hold no longer than its connection', async (t) => {
    const { manager, peer, fields } = await aPeer(t);
    peer.connection.send(StartBackPressure, StartBackPressure.create(fields));
    await eventually(() => manager.backPressure.holds.length === 1);
    peer.connection.abort();
    await eventually(() =>
      manager.backPressure.holds.every(({ streamManager }) => streamManager !== 'stmgr-1'),
    );
  });

  it('are sent to it with a lease that is renewed', async (t) => {
    const { instance, peer } = await aPeer(t);
    instance(6).kill();
    const announced = { kind: 'start', task: 6, component: 'slow', leaseMs: LEASE_MS };
    const starts = (): unknown[] =>
      peer.pressure.filter(({ kind, task }) => kind === 'start' && task === 6);
    await eventually(() => starts().length >= 3);
    for (const signal of starts()) assert.deepEqual(signal, announced);
  });

  it('are said again on its next connection', async (t) => {
    const leaseMs = 3_600_000; // No renewal comes meanwhile.
    const lease = ['heron.streammgr.backpressure.lease.ms', `${leaseMs}`] as const;
    const { instance, peer, connect } = await aPeer(t, new Map([...CONFIG, lease]));
    instance(6).kill();
    const announced = { kind: 'start', task: 6, component: 'slow', leaseMs };
    const isTold = ({ pressure }: ScriptedPeer): boolean =>
      pressure.some((signal) => isDeepStrictEqual(signal, announced));
    await eventually(() => isTold(peer));
    const next = await connect();
    await eventually(() => isTold(next));
  });

  it('end a connection that has not said hello', async (t) => {
    const { running, fields, instance } = await aPeer(t);
    const stranger = await ScriptedPeer.connect(t, running.managerOf(2).manager.ports.data);
    stranger.connection.send(StartBackPressure, StartBackPressure.create(fields));
    await eventually(() => !stranger.connection.isOpen);
    assert.deepEqual(instance(5).holds, []);
  });
});

describe('overload', () => {
  it('O08: acks off, a spout that obeys is held while little waits', async (t) => {
    const { running, instance } = await start(t);
    const { manager } = running.managerOf(1);
    instance(3).isSlow = true;
    const sets = 400;
    let [sent, consumed, most] = [0, 0, 0];
    await eventually(() => {
      const waiting = Math.max(...manager.holdings.outboxes.map(({ queuedBytes }) => queuedBytes));
      most = Math.max(most, waiting);
      const isHeld = instance(1).holds.at(-1) !== undefined;
      // Starts are rare by design: a source that is about to be held waits for it.
      const burst = isHeld || waiting >= HIGH ? 0 : Math.min(4, sets - sent);
      flood(instance(1), 3, burst);
      sent += burst;
      const bytes = Math.min(16_384, instance(3).receivedBytes - consumed);
      if (isHeld || sent === sets) instance(3).consume(bytes);
      if (isHeld || sent === sets) consumed += bytes;
      return instance(3).tupleCount === sets * 10;
    });
    assert.ok(instance(1).holds.length >= 4, 'it was held more than once');
    assert.ok(most >= HIGH && most < 2 * HIGH, `${most} bytes waited`);
  });

  it('O06: acks on, a stall holds little, and everything comes when it is over', async (t) => {
    const { running, instance } = await start(t, new Map([...CONFIG, ACKING]));
    const { manager } = running.managerOf(1);
    instance(3).isSlow = true;
    const tuples = 200;
    let [sent, most] = [0, 0];
    const sendMore = (): void => {
      for (let burst = 0; burst < 2 && sent < tuples; burst += 1, sent += 1) {
        if (instance(1).holds.at(-1) === undefined) {
          instance(1).sendSet(trackedSet(3, BigInt(sent + 1)));
        } else return;
      }
    };
    await eventually(() => {
      sendMore();
      most = Math.max(most, ...manager.holdings.outboxes.map(({ queuedBytes }) => queuedBytes));
      return instance(1).holds.length === 1;
    });
    assert.ok(sent < tuples && most < 2 * HIGH, `${sent} tuples, ${most} bytes waited`);
    instance(3).isSlow = false;
    instance(3).consume();
    await eventually(() => {
      sendMore();
      return instance(3).tupleCount === tuples;
    });
    ackAll(instance(3), 3);
    const settled = (kind: 'acks' | 'fails'): number =>
      new Set(instance(1).controls.flatMap((set) => set[kind].map(({ roots }) => roots[0]?.key)))
        .size;
    await eventually(() => settled('acks') === tuples);
    assert.equal(settled('fails'), 0);
  });

  it('O05: acks on, fails the trees of what it drops', async (t) => {
    const { running, instance } = await start(t, new Map([...DROPPING, ACKING]));
    instance(3).isSlow = true;
    const tuples = 100;
    for (let key = 1n; key <= tuples; key += 1n) instance(1).sendSet(trackedSet(3, key));
    const fails = () => instance(1).controls.flatMap((set) => set.fails);
    const dropped = (): number => running.managerOf(1).count('__server/__tuples_dropped');
    await eventually(() => dropped() > 0 && fails().length === dropped());
    assert.deepEqual(
      new Set(fails().map(({ detail }) => detail?.kind)),
      new Set([FailKind.FAIL_DROPPED]),
    );
    instance(3).isSlow = false;
    instance(3).consume();
    await eventually(() => instance(3).tupleCount + dropped() === tuples);
  });

  it('O05: drops where that is asked for; what comes out and what is dropped is all', async (t) => {
    const { running, instance } = await start(t, DROPPING);
    const manager = running.managerOf(1);
    instance(3).isSlow = true;
    flood(instance(1), 3, 500);
    flood(instance(1), 6, 10);
    const taken = (): number => manager.count('__server/__tuples_from_workers');
    await eventually(() => taken() === 5_100);
    const dropped = (): number => manager.count('__server/__tuples_dropped');
    assert.ok(dropped() > 4_000, `${dropped()} were dropped`);
    instance(3).isSlow = false;
    instance(3).consume();
    await eventually(() => instance(3).tupleCount + dropped() === 5_000);
    await eventually(() => instance(6).tupleCount === 100);
    flood(instance(1), 3, 5);
    await eventually(() => instance(3).tupleCount + dropped() === 5_050);
    assert.deepEqual(instance(1).holds, []);
  });

  it('O05: a source whose tuples are dropped is not stopped', async (t) => {
    const { running, instance } = await start(t, DROPPING);
    const { manager } = running.managerOf(1);
    instance(3).isSlow = true;
    let sentBytes = 0;
    const set = setFor(3);
    await eventually(() => {
      while (sentBytes - instance(1).releasedBytes < 4 * HIGH && sentBytes < 100 * HIGH) {
        instance(1).sendSet(set);
        sentBytes += set.length;
      }
      return sentBytes >= 100 * HIGH;
    });
    assert.ok(manager.holdings.outboxes.every(({ queuedBytes }) => queuedBytes < 2 * HIGH));
  });
});
