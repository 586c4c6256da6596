import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeCompletion } from '../../../src/model/completion.ts';
import type { DeadLetter } from '../../../src/model/dead-letter.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { aLetter, takeUpRequests, valueOf, writeLetters } from '../../support/dead-letters.ts';
import { eventually } from '../../support/eventually.ts';
import { writeNodes } from '../../support/state-nodes.ts';
import { aTopology } from '../../support/topologies.ts';

/*
  `heron dead-letters` over the files of a topology that has completed, and of one whose records are
  damaged, which may run or not; what runs for certain is in test/cluster/cli.
*/

const WORDS = topologyName('words');
const ID = topologyId('words-1');
const HERE = 'local/tester/dev';
const TIMED_OUT = {
  kind: 'time-out',
  component: undefined,
  task: undefined,
  message: undefined,
  stack: undefined,
} as const;
const LETTERS: readonly DeadLetter[] = [
  aLetter('3-1', { atMs: 1_000 }),
  aLetter('3-2', { atMs: 2_000, reason: TIMED_OUT }),
  aLetter('3-3', { atMs: 3_000, values: [valueOf(['a', 7n])] }),
];

async function completed(t: TestContext, letters = LETTERS): Promise<string> {
  const completion = {
    topologyId: ID,
    completedAtMs: 1,
    result: 'completed',
    incidents: [],
    recovered: [],
  } as const;
  const path = await writeNodes(t, { [paths.completed(WORDS)]: encodeCompletion(completion) });
  await writeLetters(join(path, 'logs', ID, 'container-1'), letters);
  return path;
}

async function perhapsRunning(t: TestContext) {
  const nodes = { [paths.topology(WORDS)]: encodeTopology(aTopology()), 'pplans/words': DAMAGE };
  const path = await writeNodes(t, nodes);
  const container = join(path, 'topologies/local/tester/words/container-1');
  await writeLetters(container, LETTERS);
  return { path, folder: join(container, 'dead-letters') };
}

const DAMAGE = Buffer.from('!');

async function json(path: string, command: string, ...args: readonly string[]) {
  const words = ['dead-letters', command, HERE, WORDS, ...args, '--json'];
  const { code, stdout, stderr } = await runInProcess(path, words);
  assert.equal(stderr, '');
  return { code, value: JSON.parse(stdout) as JsonAnswer };
}

interface JsonAnswer {
  readonly total?: number;
  readonly letters?: readonly { readonly id: string; readonly values?: unknown }[];
  readonly purged?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

const idsOf = ({ letters }: JsonAnswer) => letters?.map(({ id }) => id);

describe('dead-letters list', () => {
  test('shows the newest first, and says how many there are', async (t) => {
    const path = await completed(t);
    const { code, value } = await json(path, 'list', '--limit', '2');
    assert.deepEqual([code, idsOf(value), value.total], [0, ['3-3', '3-2'], 3]);
    const { stdout } = await runInProcess(path, ['dead-letters', 'list', HERE, WORDS]);
    assert.match(stdout, /^ID +AT +TASK +ATTEMPTS +REASON +ERROR\n3-3 +1970-01-01T00:00:03\.000Z /);
    const few = await runInProcess(path, ['dead-letters', 'list', HERE, WORDS, '--limit', '1']);
    assert.match(few.stdout, /\n2 older ones: --before 1970-01-01T00:00:03\.000Z, or a larger/);
  });

  test('is narrowed by reason, spout and moment', async (t) => {
    const path = await completed(t);
    assert.deepEqual(idsOf((await json(path, 'list', '--reason', 'time-out')).value), ['3-2']);
    const before = ['--before', '1970-01-01T00:00:02.000Z'];
    assert.deepEqual(idsOf((await json(path, 'list', ...before)).value), ['3-1']);
    assert.deepEqual(idsOf((await json(path, 'list', '--component', 'x')).value), []);
    const words = ['dead-letters', 'list', HERE, WORDS, '--reason', 'dropped'];
    const none = await runInProcess(path, words);
    assert.equal(none.stdout, 'words has no dead letters of this kind\n');
  });

  test('refuses options that mean nothing: 1', async (t) => {
    const path = await completed(t);
    for (const [option, text] of [
      ['--before', 'yesterday'],
      ['--limit', '0'],
      ['--reason', 'bad-luck'],
    ] as const) {
      const { code, value } = await json(path, 'list', option, text);
      assert.deepEqual([code, value.error?.code], [1, 'INVALID_ARGUMENT']);
    }
  });
});

test('dead-letters show has the values, and says which ids are not there: 1', async (t) => {
  const path = await completed(t);
  const { code, value } = await json(path, 'show', '3-3');
  assert.equal(code, 0);
  assert.deepEqual(value.letters?.[0]?.values, [
    { field: 'line', text: "[ 'a', 7n ]", base64: valueOf(['a', 7n]) },
  ]);
  const absent = await json(path, 'show', '3-3', '3-9', '9');
  assert.equal(absent.code, 1);
  assert.equal(absent.value.error?.message, "words has no such dead letters: '3-9', '9'");
});

describe('of a topology that has completed', () => {
  test('dead letters are removed from its files: 0', async (t) => {
    const path = await completed(t);
    const some = await json(path, 'purge', '3-1', '--yes');
    assert.deepEqual([some.code, some.value.purged], [0, 1]);
    assert.deepEqual(idsOf((await json(path, 'list')).value), ['3-3', '3-2']);
    const kind = await json(path, 'purge', '--reason', 'time-out', '--yes');
    assert.equal(kind.value.purged, 1);
    const rest = await json(path, 'purge', '--yes');
    assert.equal(rest.value.purged, 1);
    assert.equal((await json(path, 'list')).value.total, 0);
    assert.equal((await json(path, 'purge')).code, 0);
  });

  test('nothing is removed without a yes: 1', async (t) => {
    const path = await completed(t);
    const { code, value } = await json(path, 'purge');
    assert.deepEqual([code, value.error?.code], [1, 'INVALID_ARGUMENT']);
    assert.equal((await json(path, 'list')).value.total, 3);
  });

  test('nobody replays them: 100', async (t) => {
    const { code, value } = await json(await completed(t), 'replay');
    assert.deepEqual([code, value.error?.code], [100, 'TOPOLOGY_NOT_READY']);
  });
});

describe('of a topology that may run', () => {
  for (const [command, options, letters] of [
    ['replay', [], 'all'],
    ['replay', ['--reason', 'time-out'], ['3-2']],
    ['replay', ['3-1', '3-3'], ['3-1', '3-3']],
    ['purge', ['--yes'], ['3-1', '3-2', '3-3']],
  ] as const) {
    test(`${[command, ...options].join(' ')} asks its tasks`, async (t) => {
      const { path, folder } = await perhapsRunning(t);
      const end = json(path, command, ...options);
      const answer = { count: 2, refusal: undefined };
      await eventually(async () => {
        const [request] = await takeUpRequests(folder, () => answer);
        if (request === undefined) return false;
        assert.deepEqual([request.action, request.letters], [command, letters]);
        return true;
      });
      const { code, value } = await end;
      const { name, id, replayed, purged, tasks } = value as Readonly<Record<string, unknown>>;
      assert.deepEqual([code, name, id], [0, 'words', 'words-1']);
      const one = { component: 'lines', task: 3, count: 2 };
      const expected = command === 'replay' ? [2, undefined, [one]] : [undefined, 2, undefined];
      assert.deepEqual([replayed, purged, tasks], expected);
    });
  }

  test('what a task refuses is said: 100', async (t) => {
    const { path, folder } = await perhapsRunning(t);
    const end = json(path, 'replay');
    const answer = { count: 0, refusal: 'the spout cannot' };
    await eventually(async () => (await takeUpRequests(folder, () => answer)).length > 0);
    const { code, value } = await end;
    assert.equal(code, 100);
    assert.equal(value.error?.message, "task 3 of 'lines': the spout cannot");
  });

  test('a task that does not answer is not asked any more: 105', async (t) => {
    const { path, folder } = await perhapsRunning(t);
    const { code, value } = await json(path, 'purge', '--yes', '--timeout', '1');
    assert.deepEqual([code, value.error?.code], [105, 'REQUEST_TIMEOUT']);
    assert.deepEqual(await takeUpRequests(folder, () => assert.fail()), []);
  });

  test('replay --no-wait leaves the request to a task that is away: 0', async (t) => {
    const { path, folder } = await perhapsRunning(t);
    const { code } = await json(path, 'replay', '--no-wait');
    assert.equal(code, 0);
    const [request] = await takeUpRequests(folder, () => assert.fail());
    assert.deepEqual([request?.action, request?.wantsAnswer], ['replay', false]);
  });

  test('a spout that is misspelt is refused: 1', async (t) => {
    const { path } = await perhapsRunning(t);
    const { code, value } = await json(path, 'replay', '--component', 'lins');
    assert.equal(code, 1);
    assert.equal(value.error?.message, "words has no spout 'lins'; did you mean 'lines'?");
  });
});

test('status counts them, while the topology is there and when it has completed', async (t) => {
  const words = ['status', HERE, WORDS];
  for (const path of [await completed(t), (await perhapsRunning(t)).path]) {
    const { stdout } = await runInProcess(path, [...words, '--json']);
    assert.equal((JSON.parse(stdout) as { readonly deadLetters: number }).deadLetters, 3);
    const text = await runInProcess(path, words);
    assert.match(
      text.stdout,
      /^3 dead letters: 'heron dead-letters list local words' shows them$/m,
    );
  }
});

test('a kill removes them, and says how many', async (t) => {
  const { path } = await perhapsRunning(t);
  const { code, stdout } = await runInProcess(path, ['kill', HERE, WORDS]);
  assert.equal(code, 0);
  assert.match(stdout, /words is gone from local\/tester\/dev, and 3 dead letters with it\n$/);
});

test('the shell completes their ids', async (t) => {
  const path = await completed(t);
  const words = ['dead-letters', 'show', HERE, WORDS, '3-1', '3-'];
  const { stdout } = await runInProcess(path, ['complete', '--', ...words]);
  assert.deepEqual(stdout, '3-1\n3-2\n3-3\n');
});
