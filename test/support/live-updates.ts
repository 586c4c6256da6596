import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { streamManagerId } from '../../src/base/ids.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { StatusCode } from '../../src/wire/messages.ts';
import { eventually } from './eventually.ts';
import { aPlanOf } from './planned-tasks.ts';
import { RunningStreamManagers } from './running-stream-managers.ts';
import type { ScriptedInstance } from './scripted-instance.ts';
import { aBolt, aSpout, aTopology } from './topologies.ts';
import { aTuple, tupleSetBytes } from './tuple-sets.ts';

/* A topology that is updated while it runs: real stream managers, everything else scripted. */

export const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
/** `word` (1) in container 1, `count` in containers 2 and 1 (2 and 3). */
export const plan = aPlanOf(topology, ['word', 1], ['count', 2], ['count', 1]);

export const AT_LEAST_ONCE = new Map([['topology.reliability.mode', 'ATLEAST_ONCE']]);
export const [FIRST, SECOND] = [streamManagerId('stmgr-1'), streamManagerId('stmgr-2')];

/** So that a few hundred tuples are more than the smallest window. */
const FILLER = 'x'.repeat(250);

const textOf = (number: number): string => `${number}`.padStart(6, '0');

/** Numbers as words of six digits, in one set of the spout's. */
export function numbered(from: number, to: number, task = 1): Uint8Array {
  const tuples = [];
  for (let number = from; number < to; number += 1) tuples.push(aTuple(textOf(number), FILLER));
  return tupleSetBytes({ task, tuples });
}

/** The same, each of them the root of a tree with its number as the key. */
export function tracked(from: number, to: number, task = 1): Uint8Array {
  const tuples = [];
  for (let number = from; number < to; number += 1) {
    const roots = [{ task, key: BigInt(number) }];
    tuples.push({ ...aTuple(textOf(number), FILLER), roots });
  }
  return tupleSetBytes({ task, tuples });
}

/** By the digits behind the length of the text. */
export function numbersOf(...instances: readonly ScriptedInstance[]): number[] {
  const texts = instances.flatMap(({ firstValues }) => firstValues);
  return texts.map((text) => Number(text.slice(1))).toSorted((a, b) => a - b);
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** A topology that runs by `thePlan`; each instance has to be there. */
export async function running(
  t: TestContext,
  thePlan: PhysicalPlan,
  config = new Map<string, string>(),
) {
  const managers = await RunningStreamManagers.start(t, thePlan, { config });
  const all = await managers.instances();
  const instance = (task: number): ScriptedInstance =>
    all.get(task) ?? assert.fail(`task ${task} is there`);
  return { managers, instance };
}

/** An instance of a task that may register, perhaps a little later. */
export function registered(
  managers: RunningStreamManagers,
  task: number,
): Promise<ScriptedInstance> {
  return eventually(async () => {
    const instance = await managers.instance(task);
    const { status } = await instance.registrationAnswer();
    return status?.status === StatusCode.OK && instance;
  });
}

/** The step of an update in which new tasks are there and others begin to retire. */
export async function begin(managers: RunningStreamManagers, union: PhysicalPlan) {
  const isNew = (task: number): boolean =>
    !managers.plan.instances.some((known) => known.task === task);
  const added = union.instances.filter(({ task }) => isNew(task));
  const known = managers.plan.streamManagers.map(({ id }) => id);
  managers.plan = union;
  await managers.storePacking(union);
  for (const { id } of union.streamManagers) {
    if (!known.includes(id)) await managers.startManager(id);
  }
  const instances = new Map<number, ScriptedInstance>();
  for (const { task } of added) {
    instances.set(task, await registered(managers, task));
  }
  await eventually(() =>
    union.streamManagers.every(({ id }) => managers.master.registrations.has(id)),
  );
  managers.publish(union);
  for (const instance of instances.values()) await instance.plan();
  return (task: number): ScriptedInstance =>
    instances.get(task) ?? assert.fail(`task ${task} is new`);
}

export async function retired(
  managers: RunningStreamManagers,
  id: typeof FIRST,
  ...tasks: number[]
) {
  await eventually(() => {
    assert.deepEqual(managers.master.retired.get(id), tasks);
    return true;
  });
}

export async function worksBy(
  managers: RunningStreamManagers,
  number: number,
  ...ids: (typeof FIRST)[]
) {
  await eventually(() => ids.every((id) => managers.master.planEpochs.get(id) === number));
}
