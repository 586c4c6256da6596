import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { ConfigMap } from '../../src/model/logical-topology.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { FrameAssembler } from '../../src/wire/frame.ts';
import {
  NewInstanceAssignment,
  RegisterInstance,
  StatusCode,
  StoredTopology,
} from '../../src/wire/messages.ts';
import { physicalPlanFromMessage } from '../../src/wire/physical-plan.ts';
import { RunningStreamManagers } from './running-stream-managers.ts';
import { ScriptedInstance } from './scripted-instance.ts';
import { readTupleSet } from './tuple-sets.ts';

/* Recorded conversations of Heron's instances (test/golden/packets), with our stream managers. */

export function golden(path: string): Buffer {
  return readFileSync(new URL(`../golden/${path}.bin`, import.meta.url));
}

export function packet(name: string) {
  const bytes = golden(`packets/${name}`);
  const assembler = new FrameAssembler(bytes.length);
  assembler.feed(bytes);
  const { payload } = assembler.next() ?? assert.fail(`${name} holds a packet`);
  return { bytes, payload };
}

export interface Recording {
  /** What the names of its packets begin with. */
  readonly session: string;
  /** Its file in test/golden/topology. */
  readonly topology: string;
  /** The plan that the recorded instances worked by. */
  readonly plan: PhysicalPlan;
}

/** `planPacket` is a NewInstanceAssignmentMessage or a RegisterInstanceResponse of the session. */
export function recording(session: string, topology: string, planPacket?: string): Recording {
  if (planPacket !== undefined) {
    const { pplan } = RegisterInstance.response.decode(packet(planPacket).payload);
    return { session, topology, plan: physicalPlanFromMessage(pplan ?? assert.fail('no plan')) };
  }
  const { payload } = packet(`${session}-to-NewInstanceAssignmentMessage-1`);
  const { pplan } = NewInstanceAssignment.decode(payload);
  return { session, topology, plan: physicalPlanFromMessage(pplan ?? assert.fail('no plan')) };
}

/**
 * Starts the plan's stream managers and registers all its instances, that of the recorded
 * registration with its own bytes.
 */
export async function startRecorded(
  t: TestContext,
  { session, topology, plan }: Recording,
  config: ConfigMap = new Map(),
) {
  const definition = StoredTopology.decode(golden(`topology/${topology}`));
  const running = await RunningStreamManagers.start(t, plan, { topology: definition, config });
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
export function tuplesOf(payload: Uint8Array) {
  return (readTupleSet(payload).data?.tuples ?? []).map(({ values, roots, destTaskIds, key }) => ({
    values: values.map((value) => Buffer.from(value).toString('hex')),
    roots: roots.map((root) => `${root.taskid}:${root.key}`),
    destTaskIds,
    key,
  }));
}

export type Tuples = ReturnType<typeof tuplesOf>;

export const receivedTuples = (instance: ScriptedInstance | undefined): Tuples =>
  (instance?.sets ?? []).flatMap((set) => tuplesOf(set));
