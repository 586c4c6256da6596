import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { FrameAssembler } from '../../../src/wire/frame.ts';
import {
  NewInstanceAssignment,
  RegisterInstance,
  StatusCode,
  StoredTopology,
} from '../../../src/wire/messages.ts';
import { physicalPlanFromMessage } from '../../../src/wire/physical-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningStreamManagers } from '../../support/running-stream-managers.ts';
import { ScriptedInstance } from '../../support/scripted-instance.ts';
import { readTupleSet } from '../../support/tuple-sets.ts';

/*
  What Heron's own Python and Java instances sent to a stream manager, sent to ours byte for byte:
  it registers them, gives them a plan that they can read, and takes their tuples where Heron takes
  them.
*/

function golden(path: string): Buffer {
  return readFileSync(new URL(`../../golden/${path}.bin`, import.meta.url));
}

function packet(name: string) {
  const bytes = golden(`packets/${name}`);
  const assembler = new FrameAssembler(bytes.length);
  assembler.feed(bytes);
  const { payload } = assembler.next() ?? assert.fail(`${name} holds a packet`);
  return { bytes, payload };
}

/** The plan that the recorded instances worked by. */
function recordedPlan(session: string): PhysicalPlan {
  const { payload } = packet(`${session}-to-NewInstanceAssignmentMessage-1`);
  return physicalPlanFromMessage(
    NewInstanceAssignment.decode(payload).pplan ?? assert.fail('a plan has been recorded'),
  );
}

async function start(t: TestContext, session: string, topology: string) {
  const plan = recordedPlan(session);
  const definition = StoredTopology.decode(golden(`topology/${topology}`));
  const running = await RunningStreamManagers.start(t, plan, { topology: definition });
  const recorded = packet(`${session}-from-RegisterInstanceRequest-1`);
  const registration = RegisterInstance.request.decode(recorded.payload);
  const task = registration.instance?.info?.taskId ?? assert.fail('a task has been recorded');
  const all = new Map<number, ScriptedInstance>();
  for (const instance of plan.instances) {
    if (instance.task !== task) all.set(instance.task, await running.instance(instance.task));
  }
  const container = Number(registration.instance?.stmgrId.replace('stmgr-', ''));
  const { localData } = running.managerOf(container).manager.ports;
  const instance = await ScriptedInstance.connect(t, localData);
  instance.sendBytes(recorded.bytes);
  const answer = await instance.registrationAnswer();
  assert.equal(answer.status?.status, StatusCode.OK);
  // Unknown to Heron: it must not even be there.
  assert.ok(!Object.hasOwn(answer, 'creditBytes'));
  const [response] = instance.packets;
  assert.deepEqual(
    response?.requestId,
    recorded.bytes.subarray(-recorded.payload.length - 36, -recorded.payload.length - 4),
  );
  all.set(task, instance);
  return { running, plan, definition, all };
}

/** What the tuples of a set look like: their values and what else they carry. */
function tuplesOf(payload: Uint8Array) {
  return (readTupleSet(payload).data?.tuples ?? []).map(({ values, roots, destTaskIds, key }) => ({
    values: values.map((value) => Buffer.from(value).toString('hex')),
    roots: roots.map((root) => `${root.taskid}:${root.key}`),
    destTaskIds,
    key,
  }));
}

type Tuples = ReturnType<typeof tuplesOf>;

const byValue = (tuples: Tuples): Tuples =>
  tuples.toSorted((a, b) => a.values.join().localeCompare(b.values.join()));

const received = (instance: ScriptedInstance | undefined): Tuples =>
  (instance?.sets ?? []).flatMap((set) => tuplesOf(set));

describe("Heron's Python instances", () => {
  it('register, get the whole plan, and stay connected', async (t) => {
    const { definition, all } = await start(t, 'py-plain', 'plain');
    for (const instance of all.values()) {
      const plan = await instance.plan();
      assert.equal(plan.topology.name, 'g-plain');
      const [given] = instance.plans;
      assert.deepEqual(
        StoredTopology.encode(given?.topology ?? assert.fail('a plan has its topology')),
        StoredTopology.encode(definition),
      );
      assert.ok(!instance.isClosed);
    }
  });

  it('send tuples, which arrive as they were sent, at the tasks that Heron chooses', async (t) => {
    const { all } = await start(t, 'py-plain', 'plain');
    await all.get(1)?.plan();
    const words = packet('py-plain-from-word-HeronTupleSet-data-word-default-1');
    all.get(2)?.sendBytes(words.bytes);
    const counts = [all.get(3), all.get(4)];
    await eventually(() => counts.reduce((sum, one) => sum + (one?.tupleCount ?? 0), 0) === 4);
    assert.deepEqual(byValue(counts.flatMap(received)), byValue(tuplesOf(words.payload)));
    // fields-grouping.json, two tasks: "hello" and "good" are odd; "bad" is even.
    const texts = (one: ScriptedInstance | undefined): string =>
      one?.firstValues.map((value) => value.slice(13, -2)).join(' ') ?? '';
    assert.equal(texts(all.get(4)), 'hello bye good');
    assert.equal(texts(all.get(3)), 'bad');
    assert.equal(readTupleSet(all.get(4)?.sets[0] ?? words.payload).srcTaskId, 2);
  });

  it('send on two streams, shuffled and global', async (t) => {
    const { all } = await start(t, 'py-plain', 'plain');
    await all.get(1)?.plan();
    const sets = ['count-default-1', 'count-totals-1'].map((name) =>
      packet(`py-plain-from-count-HeronTupleSet-data-${name}`),
    );
    for (const { bytes } of sets) all.get(4)?.sendBytes(bytes);
    await eventually(() => all.get(5)?.tupleCount === 4);
    assert.deepEqual(
      received(all.get(5)),
      sets.flatMap(({ payload }) => tuplesOf(payload)),
    );
  });

  it('choose tasks themselves, by a custom grouping', async (t) => {
    const { all } = await start(t, 'py-custom', 'custom');
    await all.get(1)?.plan();
    const counts = packet('py-custom-from-count-HeronTupleSet-data-count-default-1');
    all.get(4)?.sendBytes(counts.bytes);
    await eventually(() => all.get(6)?.tupleCount === 3);
    assert.deepEqual(received(all.get(6)), tuplesOf(counts.payload));
    assert.equal(all.get(5)?.tupleCount, 0);
  });
});

describe("Heron's Java instances", () => {
  it('work in two containers', async (t) => {
    const { all } = await start(t, 'java-acked', 'jacked');
    await all.get(1)?.plan();
    await all.get(2)?.plan();
    const words = packet('java-acked-from-word-HeronTupleSet-data-word-default-1');
    all.get(2)?.sendBytes(words.bytes);
    const counts = [all.get(4), all.get(5)];
    await eventually(() => counts.reduce((sum, one) => sum + (one?.tupleCount ?? 0), 0) === 4);
    assert.deepEqual(byValue(counts.flatMap(received)), byValue(tuplesOf(words.payload)));
  });

  it('may ack and fail; at most once, nobody listens', async (t) => {
    const { running, all } = await start(t, 'java-acked', 'jacked');
    await all.get(1)?.plan();
    for (const kind of ['acks-1', 'fails-1']) {
      const { bytes } = packet(`java-acked-from-count-HeronTupleSet-${kind}`);
      all.get(4)?.sendBytes(bytes);
    }
    const manager = running.managerOf(2);
    await eventually(() => manager.count('__server/__fail_tuples_from_workers') > 0);
    assert.ok(manager.count('__server/__ack_tuples_from_workers') > 0);
    assert.ok([...all.values()].every(({ isClosed }) => !isClosed));
  });
});
