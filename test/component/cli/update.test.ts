import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { runCommandLine } from '../../../src/cli/run-command-line.ts';
import { adopted } from '../../../src/model/adopted-packing.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { encodePhysicalPlan } from '../../../src/wire/physical-plan.ts';
import { runInProcess } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { placesIn } from '../../support/packing-cases.ts';
import type { PaperTopology } from '../../support/paper-topology.ts';
import { STATE } from '../../support/state-nodes.ts';
import { aPhysicalPlan } from '../../support/topologies.ts';
import {
  type Answer,
  aPaper,
  begin,
  DOWN,
  HERE,
  UP,
  update,
  valueOf,
} from '../../support/update-command.ts';

/*
  `heron update` against the records of a topology that runs on paper: each of its steps, and what
  the next command makes of one that was killed after it. Real processes are in test/cluster.
*/

/** Waits for the command's one write. */
async function stored(paper: PaperTopology, containers: object): Promise<void> {
  await eventually(async () => {
    assert.deepEqual(placesIn(await paper.packingPlan()), containers);
  });
}

const UNION_UP = { 1: ['1 words[0]', '3 count[0]', '5 count[2]'], 2: ['2 words[1]', '4 count[1]'] };
const UNION_DOWN = { 1: ['1 words[0]', '3 count[0]'], 2: ['2 words[1]', '4 count[1]'] };

describe('the numbers of a topology that runs', () => {
  test('up: returns when the plan is in force and every process is up', async (t) => {
    const paper = await aPaper(t);
    const end = update(paper, ...UP);
    await stored(paper, UNION_UP);
    const plan = await paper.packingPlan();
    assert.deepEqual([Number(plan.epoch) > 0, plan.lastTask], [true, 5]);
    await paper.start();
    await paper.adopt();
    const { code, stdout, stderr } = await end;
    assert.deepEqual([code, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    assert.deepEqual(
      [lines[0], lines.at(-1)],
      ['words: count 2 → 3', 'words was updated: count 2 → 3'],
    );
  });

  test('down: returns when what goes has retired and is gone', async (t) => {
    const paper = await aPaper(t);
    const end = update(paper, ...DOWN, '--json');
    await eventually(async () => (await paper.packingPlan()).epoch !== undefined);
    assert.deepEqual(placesIn(await paper.packingPlan()), UNION_DOWN);
    await paper.adopt();
    const status = await runInProcess(paper.dataRoot, ['status', HERE, 'words', '--json']);
    const { state, update: shown } = valueOf(status);
    assert.deepEqual([state, shown?.phase], ['RUNNING', 'retiring']);
    assert.match(shown?.since ?? '', /^\d{4}-/);
    const shownText = await runInProcess(paper.dataRoot, ['status', HERE, 'words']);
    assert.match(
      shownText.stdout,
      /being updated since .*; .*working off .*: container_2_count_4\n/,
    );
    await paper.retire();
    await paper.settle();
    const { code, stdout } = await end;
    assert.equal(code, 0, stdout);
    const value = JSON.parse(stdout) as Answer;
    assert.deepEqual(
      [value.state, value.changed, value.changes, value.added, value.retired],
      [
        'UPDATED',
        true,
        [{ component: 'count', from: 2, to: 1 }],
        [],
        [{ component: 'count', task: 4, container: 2 }],
      ],
    );
    const after = await runInProcess(paper.dataRoot, ['status', HERE, 'words', '--json']);
    assert.equal(valueOf(after).update, null);
  });

  test('--no-wait returns when the plan is stored', async (t) => {
    const paper = await aPaper(t);
    const { code, stdout } = await update(paper, ...UP, '--no-wait');
    assert.equal(code, 0);
    assert.match(stdout, /the change is stored; how far it is says 'heron status local\/tester/);
    assert.deepEqual(placesIn(await paper.packingPlan()), UNION_UP);
    const status = await runInProcess(paper.dataRoot, ['status', HERE, 'words']);
    assert.match(
      status.stdout,
      /being updated: count 2 → 3 since .*; missing: container_1_count_5/,
    );
  });

  test('one that does not come up: 105, with what is missing and how to give it up', async (t) => {
    const paper = await aPaper(t);
    const { code, stdout } = await update(paper, ...UP, '--timeout', '1', '--json');
    assert.equal(code, 105);
    const { error } = valueOf({ code, stdout, stderr: '' });
    assert.equal(error?.message, 'words was not updated within 1 s; missing: container_1_count_5');
    const undo = 'heron update local/tester/dev words --component-parallelism count:2';
    assert.match(error?.next ?? '', new RegExp(`'${undo}' gives it up$`));
    const given = await runInProcess(paper.dataRoot, undo.split(' ').slice(1));
    assert.equal(given.code, 0, given.stderr);
    assert.match(
      given.stdout,
      /^the update before it gives way: count 2 → 3\nwords is as asked for\n$/,
    );
    assert.deepEqual(placesIn(await paper.packingPlan()), UNION_DOWN);
  });

  test('a process that has used up its starts: 100, with its last lines', async (t) => {
    const paper = await aPaper(t);
    const end = update(paper, ...UP, '--json');
    await stored(paper, UNION_UP);
    await paper.start((name) => name !== 'container_1_count_5');
    await paper.fail('container_1_count_5', ['cannot open']);
    const { code, stdout } = await end;
    assert.equal(code, 100);
    assert.match(stdout, /container_1_count_5 died too often.*cannot open/);
  });

  test('in force before the command has looked again: its own tasks retire', async (t) => {
    const paper = await aPaper(t);
    const node = (path: string): string => join(paper.dataRoot, STATE, path);
    const stdout = new PassThrough();
    const said = text(stdout);
    const end = runCommandLine({
      args: ['update', HERE, 'words', ...DOWN, '--json'],
      stdout,
      stderr: new PassThrough().resume(),
      environment: { HERON_DATA: paper.dataRoot, HERON_CONFIG: join(paper.dataRoot, 'config') },
      interruption: new AbortController().signal,
      afterStep: (step) => {
        if (step !== 'packing-plan') return;
        const plan = decodePackingPlan(readFileSync(node('packingplans/words')));
        const inForce = encodePhysicalPlan(aPhysicalPlan(paper.topology, plan));
        writeFileSync(node('pplans/words'), inForce);
      },
    });
    await eventually(async () => {
      const { instances } = await paper.physicalPlan();
      assert.ok(instances.some(({ isRetiring }) => isRetiring === true));
    });
    await paper.retire();
    await paper.settle();
    assert.equal(await end, 0);
    stdout.end();
    assert.equal((JSON.parse(await said) as Answer).state, 'UPDATED');
  });

  test('while an update is being put in force, another one waits until it is', async (t) => {
    const paper = await aPaper(t);
    assert.equal((await update(paper, ...UP, '--no-wait')).code, 0);
    const marked = adopted(await paper.packingPlan());
    await paper.stateManager.write(
      paths.packingPlan(paper.topology.name),
      encodePackingPlan(marked),
    );
    const late = await update(paper, ...DOWN, '--timeout', '1', '--no-wait');
    assert.equal(late.code, 105);
    assert.match(late.stderr, /an earlier update of words is not in force yet/);
    assert.deepEqual(placesIn(await paper.packingPlan()), UNION_UP);
    await paper.adopt();
    assert.equal((await update(paper, ...DOWN, '--no-wait')).code, 0);
    assert.deepEqual(placesIn(await paper.packingPlan()), UNION_UP, 'all of it is in force');
  });

  test('another write in the same moment: it begins again with what that has stored', async (t) => {
    const paper = await aPaper(t);
    const original = await paper.packingPlan();
    let packed = 0;
    const code = await runCommandLine({
      args: ['update', HERE, 'words', ...UP, '--no-wait'],
      stdout: new PassThrough().resume(),
      stderr: new PassThrough().resume(),
      environment: { HERON_DATA: paper.dataRoot, HERON_CONFIG: join(paper.dataRoot, 'config') },
      interruption: new AbortController().signal,
      afterStep: (step) => {
        if (step !== 'pack' || packed++ > 0) return;
        const plan = { ...original, lastTask: taskId(20) };
        writeFileSync(join(paper.dataRoot, STATE, 'packingplans/words'), encodePackingPlan(plan));
      },
    });
    assert.deepEqual([code, packed], [0, 2]);
    assert.equal((await paper.packingPlan()).lastTask, 21);
  });

  test('one that another update replaces: 100', async (t) => {
    const paper = await aPaper(t);
    const first = update(paper, ...UP, '--json');
    await stored(paper, UNION_UP);
    assert.equal((await update(paper, ...DOWN, '--no-wait')).code, 0);
    const { code, stdout } = await first;
    assert.equal(code, 100);
    assert.equal(valueOf({ code, stdout, stderr: '' }).error?.code, 'STATE_CONFLICT');
  });

  test('while tasks retire, another update waits for them', async (t) => {
    const paper = await aPaper(t);
    assert.equal((await update(paper, ...DOWN, '--no-wait')).code, 0);
    await paper.adopt();
    const late = await update(paper, ...UP, '--timeout', '1');
    assert.equal(late.code, 105);
    assert.match(late.stderr, /tasks of words still retire by an earlier update/);
    const { end: next, said } = begin(paper, ...UP, '--no-wait');
    await eventually(() => said().includes('waiting for the end of the update before this one'));
    await paper.retire();
    await paper.settle();
    assert.equal(await next, 0);
    // 4 was used and is not used again.
    assert.deepEqual(placesIn(await paper.packingPlan()), {
      1: ['1 words[0]', '3 count[0]', '6 count[2]'],
      2: ['2 words[1]', '5 count[1]'],
    });
  });
});

describe('a command that was killed after a step is completed by the same one', () => {
  /** Runs the command until it has passed a step; nothing that it does later counts. */
  async function killed(paper: PaperTopology, step: string, ...args: readonly string[]) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const texts = Promise.all([text(stdout), text(stderr)]);
    const code = await runCommandLine({
      args: ['update', HERE, 'words', ...args],
      stdout,
      stderr,
      environment: {
        HERON_DATA: paper.dataRoot,
        HERON_CONFIG: join(paper.dataRoot, 'config'),
      },
      interruption: new AbortController().signal,
      afterStep: (passed) => {
        if (passed === step) throw new Error('killed');
      },
    });
    stdout.end();
    stderr.end();
    assert.match((await texts)[1], /killed/);
    assert.equal(code, 100);
  }

  for (const step of ['pack', 'packing-plan']) {
    test(`after ${step}`, async (t) => {
      const paper = await aPaper(t);
      await killed(paper, step, ...UP);
      const { end, said } = begin(paper, ...UP);
      await eventually(() => said().includes('words: count 2 → 3\n'));
      assert.equal(said().includes('words is being updated so already'), step === 'packing-plan');
      await stored(paper, UNION_UP);
      await paper.start();
      await paper.adopt();
      assert.equal(await end, 0);
      assert.match(said(), /words was updated: count 2 → 3\n$/);
    });
  }

  test('while what goes retires, and when all is done', async (t) => {
    const paper = await aPaper(t);
    await killed(paper, 'packing-plan', ...DOWN);
    await paper.adopt();
    const { end, said } = begin(paper, ...DOWN);
    await eventually(() => said().includes('working off what is in hand: container_2_count_4'));
    await paper.retire();
    await eventually(() => said().includes('ending: container_2_count_4'));
    await paper.settle();
    assert.equal(await end, 0);
    const done = await update(paper, ...DOWN);
    assert.deepEqual([done.code, done.stdout], [0, 'nothing to do: count has 1 task already\n']);
  });
});
