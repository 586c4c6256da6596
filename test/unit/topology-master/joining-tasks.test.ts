import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { componentName, epoch, type StreamManagerId } from '../../../src/base/ids.ts';
import { MemoryStateTree } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { hasEndedBefore } from '../../../src/topology-master/completion-decision.ts';
import {
  begun,
  joined,
  JOINS_NOW,
  withJoining,
} from '../../../src/topology-master/joining-tasks.ts';
import { aRunningMaster, update } from '../../support/live-master.ts';
import { anAddress, anInstance, aPlacement } from '../../support/placements.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

const WORD = componentName('word');
const FIRST = anAddress(1);
const SECOND = anAddress(2);
const CURRENT = {
  epoch: epoch(4),
  streamManagers: [FIRST, SECOND],
  instances: [anInstance(1, 1), { ...anInstance(2, 2), joiningEpoch: epoch(3) }],
};

function workedBy(first: number, second?: number) {
  const epochs = new Map([[FIRST.id, epoch(first)]]);
  if (second !== undefined) epochs.set(SECOND.id, epoch(second));
  return epochs as ReadonlyMap<StreamManagerId, ReturnType<typeof epoch>>;
}

test('a new spout task joins with the plan that is to be stored; others stay what they are', () => {
  const next = [1, 2, 3].map((task) => anInstance(1, task));
  const before = { ...CURRENT, instances: [anInstance(1, 1)] };
  const marked = withJoining(next, before, (component) => component === WORD);
  assert.deepEqual(
    marked.map(({ joiningEpoch }) => joiningEpoch),
    [undefined, JOINS_NOW, JOINS_NOW],
  );
  assert.deepEqual(
    withJoining(next, before, () => false),
    next,
    'bolts do not',
  );
  const stored = marked.map((instance) => joined(instance, epoch(7)));
  const again = withJoining(next, { ...before, instances: stored }, () => true);
  assert.deepEqual(
    again.map((instance) => joined(instance, epoch(9)).joiningEpoch),
    [undefined, 7, 7],
  );
  const late = [{ ...anInstance(1, 1), isWithoutInput: true }];
  const [kept] = withJoining(next, { ...before, instances: late }, () => true);
  assert.equal(kept?.isWithoutInput, true);
});

test('it begins when every stream manager works by the plan, and not before', () => {
  const never = () => false;
  for (const planEpochs of [workedBy(4), workedBy(4, 3), workedBy(3, 4), workedBy(0, 0)]) {
    assert.equal(begun(CURRENT, { planEpochs, hasEndedBefore: never }), undefined);
  }
  const facts = { planEpochs: workedBy(4, 5), hasEndedBefore: never };
  assert.deepEqual(begun(CURRENT, facts), [anInstance(1, 1), anInstance(2, 2)]);
  const settled = { ...CURRENT, instances: [anInstance(1, 1)] };
  assert.equal(begun(settled, facts), undefined, 'there is nothing to begin');
});

test('it is without input when those before it had ended by older plans', () => {
  const asked: unknown[] = [];
  const instances = begun(CURRENT, {
    planEpochs: workedBy(4, 4),
    hasEndedBefore: (...question) => {
      asked.push(question);
      return true;
    },
  });
  assert.deepEqual(asked, [[3, WORD]]);
  assert.deepEqual(instances, [anInstance(1, 1), { ...anInstance(2, 2), isWithoutInput: true }]);
});

suite('what had ended before a plan', () => {
  const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
  const count = (task: number) => ({ ...anInstance(1, task), component: componentName('count') });
  const instances = [
    anInstance(1, 1),
    { ...anInstance(1, 2), isRetiring: true },
    { ...anInstance(1, 5), joiningEpoch: epoch(3) },
    count(3),
    { ...count(4), isRetiring: true },
  ];
  const ended = (ends: readonly (readonly [task: number, plan: number])[]): boolean =>
    hasEndedBefore(epoch(3), WORD, {
      topology,
      instances,
      ended: new Map(ends.map(([task, plan]) => [anInstance(1, task).task, epoch(plan)])),
    });

  test('all of its tasks by older ones, retiring ones too, and joining ones never', () => {
    assert.equal(ended([]), false);
    assert.equal(ended([[1, 2]]), false);
    assert.equal(
      ended([
        [1, 2],
        [2, 2],
      ]),
      true,
    );
    assert.equal(
      ended([
        [1, 2],
        [2, 3],
      ]),
      false,
      'one of them knew of the plan',
    );
  });

  test('or a task that reads from it and stays', () => {
    assert.equal(ended([[4, 3]]), false, 'one that retires has ended by itself');
    assert.equal(ended([[3, 3]]), true);
  });
});

test('nothing leaves the plan while somebody is joining', async () => {
  const tree = new MemoryStateTree();
  const master = await aRunningMaster(tree);
  const move = aPlacement({ 1: ['1', '3'], 2: ['2-'] });
  await update(tree, move);
  await master.serveAll(move);
  const joining = () => master.plans.current?.instances.map((one) => one.joiningEpoch);
  const { epoch: planEpoch } = master.plans.current ?? assert.fail();
  assert.deepEqual(joining(), [undefined, undefined, planEpoch]);
  await master.retire(2, 2);
  assert.deepEqual(master.tasks, ['1', '2-', '3']);
  await master.adopt();
  assert.deepEqual(joining(), [undefined, undefined]);
  assert.deepEqual(master.tasks, ['1', '3']);
});
