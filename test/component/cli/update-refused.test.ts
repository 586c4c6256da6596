import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { encodeCompletion } from '../../../src/model/completion.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { aPaper, DOWN, TOPOLOGY, UP, update, valueOf } from '../../support/update-command.ts';

/* What `heron update` refuses, and its dry run: nothing is stored. */

describe('what is refused, with its exit code (O27, O28)', () => {
  const cases: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['nothing', [], 1, /nothing is to change: --component-parallelism, .* is missing/],
    [
      'numbers and settings at once',
      [...UP, '--runtime-config', 'a:b'],
      1,
      /change the numbers of tasks and containers, or --runtime-config: not both at once/,
    ],
    [
      'an unknown component',
      ['--component-parallelism', 'coumt:3'],
      1,
      /there is no component 'coumt' in topology 'words'; did you mean 'count'\?/,
    ],
    ['0', ['--component-parallelism', 'count:0'], 1, /a whole number from 1, not 0/],
    ['less', ['--component-parallelism', 'count:-1'], 1, /a whole number from 1, not -1/],
    ['no number', ['--component-parallelism', 'count'], 1, /It is written component:number/],
    ['twice', [...UP, '--component-parallelism', 'count:5'], 1, /'count' is there twice/],
    [
      'above the key groups',
      ['--component-parallelism', 'count:17', '--force'],
      1,
      /16 key groups/,
    ],
    [
      'no container',
      ['--container-number', '0'],
      1,
      /from 1 to the 4 tasks of the topology, not 0/,
    ],
    [
      '10 times as many',
      ['--component-parallelism', 'words:20'],
      1,
      /words 2 → 20, containers 2 → 11 is a change by more than 4 times \(heron\.update/,
    ],
    [
      'a setting that is read at a start',
      ['--runtime-config', 'topology.stmgrs:3'],
      1,
      /topology\.stmgrs is read when a process starts/,
    ],
    [
      'a setting of an unknown component',
      ['--runtime-config', 'coumt:key:value'],
      1,
      /there is no component 'coumt'; did you mean 'count'\?/,
    ],
    ['a setting without a value', ['--runtime-config', 'key'], 1, /\[component:\]key:value/],
  ];
  for (const [name, args, expected, message] of cases) {
    test(`${name}: ${expected}`, async (t) => {
      const paper = await aPaper(t);
      const before = await paper.packingPlan();
      const { code, stderr } = await update(paper, ...args);
      assert.equal(code, expected);
      assert.match(stderr, message);
      assert.deepEqual(await paper.packingPlan(), before);
    });
  }

  test('what is there already changes nothing: 0', async (t) => {
    const paper = await aPaper(t);
    const before = await paper.packingPlan();
    const same = ['--component-parallelism', 'count:2', '--container-number', '2'];
    const { code, stdout } = await update(paper, ...same);
    assert.deepEqual(
      [code, stdout],
      [0, 'nothing to do: count has 2 tasks, there are 2 containers already\n'],
    );
    assert.deepEqual(await paper.packingPlan(), before);
  });

  test('with --force a number may become 10 times as large', async (t) => {
    const paper = await aPaper(t);
    const args = ['--component-parallelism', 'words:20', '--force', '--no-wait'];
    assert.equal((await update(paper, ...args)).code, 0);
  });

  test('a topology that is drained: 100; one that has completed: 101', async (t) => {
    const paper = await aPaper(t);
    const plan = await paper.physicalPlan();
    await paper.writePlan({ ...plan, topology: { ...plan.topology, state: 'KILLED' } });
    const drained = await update(paper, ...UP);
    assert.equal(drained.code, 100);
    assert.match(drained.stderr, /words is being drained/);
    const completion = {
      topologyId: TOPOLOGY.id,
      completedAtMs: 1,
      result: 'completed',
      incidents: [],
      recovered: [],
    } as const;
    await paper.stateManager.write(paths.completed(TOPOLOGY.name), encodeCompletion(completion));
    const completed = await update(paper, ...UP);
    assert.equal(completed.code, 101);
    assert.match(completed.stderr, /words has completed; nothing of it runs/);
  });

  test('one that has not come up yet: 100; one that is paused can be changed', async (t) => {
    const paper = await aPaper(t);
    const plan = await paper.physicalPlan();
    await paper.stateManager.delete(paths.physicalPlan(TOPOLOGY.name));
    const early = await update(paper, ...UP);
    assert.equal(early.code, 100);
    assert.match(early.stderr, /words has not come up yet/);
    await paper.writePlan({ ...plan, topology: { ...plan.topology, state: 'PAUSED' } });
    assert.equal((await update(paper, ...UP, '--no-wait')).code, 0);
  });
});

describe('a dry run changes nothing (O27)', () => {
  test('table, with signs; colours on demand', async (t) => {
    const paper = await aPaper(t);
    const before = await paper.packingPlan();
    const args = ['--container-number', '1', '--dry-run'];
    const { code, stdout } = await update(paper, ...args);
    assert.equal(code, 0);
    assert.deepEqual(
      stdout.split('\n').filter((line) => /^[ +~-] {2}[a-z]|^words|^container|^nothing/.test(line)),
      [
        'words would change in local/tester/dev: containers 2 → 1, by round-robin',
        'container 1: 5 cores, 6144 MB of memory, 16384 MB of disk',
        '   words      1     0      1    1024      1024',
        '   count      3     0      1    1024      1024',
        '+  words      5     1      1    1024      1024',
        '+  count      6     1      1    1024      1024',
        'container 2: goes when its tasks have ended, 3 cores, 4096 MB of memory, 14336 MB of disk',
        '-  words      2     1      1    1024      1024',
        '-  count      4     1      1    1024      1024',
        'nothing was changed: this was a dry run',
      ],
    );
    const coloured = await update(paper, ...args, '--dry-run-format', 'colored_table');
    assert.equal(stripVTControlCharacters(coloured.stdout), stdout);
    assert.notEqual(coloured.stdout, stdout);
    assert.deepEqual(await paper.packingPlan(), before);
  });

  test('raw and json', async (t) => {
    const paper = await aPaper(t);
    const raw = await update(paper, ...DOWN, '--dry-run-format', 'raw');
    assert.match(raw.stdout, /^- task 4 count 1 cpu 1 ram 1073741824 disk 1073741824$/m);
    assert.match(raw.stdout, /^ {2}task 3 count 0 /m);
    const json = valueOf(await update(paper, ...DOWN, '--dry-run', '--json'));
    assert.deepEqual(json.changes, [{ component: 'count', from: 2, to: 1 }]);
    const pretty = await update(paper, ...DOWN, '--dry-run-format', 'json');
    assert.deepEqual(JSON.parse(pretty.stdout), json);
  });

  test('of 10 times as many says that it would need --force', async (t) => {
    const paper = await aPaper(t);
    const { code, stderr } = await update(paper, '--component-parallelism=words:20', '--dry-run');
    assert.equal(code, 0);
    assert.match(stderr, /^warning: words 2 → 20, containers 2 → 11 is .* times .*needs --force/);
  });

  test('of what is there already', async (t) => {
    const paper = await aPaper(t);
    const { stdout } = await update(paper, '--container-number', '2', '--dry-run');
    assert.match(stdout, /^words would change in local\/tester\/dev: nothing, by round-robin\n/);
  });
});
