import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createSystemRandom } from '../../../src/base/random.ts';
import { askTasks, leaveRequests } from '../../../src/cli/dead-letters/ask-tasks.ts';
import { takeUpRequests } from '../../support/dead-letters.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* A command and the tasks that own dead letters, over the files by which they speak. */

const LINES = { component: 'lines', task: 3 };
const CLICKS = { component: 'clicks', task: 4 };

async function conversation(t: TestContext) {
  const { path } = await temporaryFolder(t);
  const folder = join(path, 'dead-letters');
  await mkdir(folder);
  const clock = new ManualClock();
  const interruption = new AbortController();
  const context = { clock, random: createSystemRandom(), interruption: interruption.signal };
  const requests = [LINES, CLICKS].map((owner) => ({
    file: { folder, ...owner },
    action: 'replay' as const,
    letters: 'all' as const,
  }));
  const left = () => readdir(folder);
  const asked = async () => {
    await eventually(async () => {
      const names = await left();
      return names.length === 2 && names.every((name) => name.endsWith('.request.json'));
    });
  };
  return { folder, clock, interruption, context, requests, left, asked };
}

test('every task is asked, and every answer is taken away', async (t) => {
  const { folder, context, requests, left, asked } = await conversation(t);
  const answers = askTasks(requests, 1_000, context);
  await asked();
  const [request] = await takeUpRequests(folder, () => ({ count: 2, refusal: undefined }), LINES);
  assert.deepEqual(
    { ...request, id: '' },
    { id: '', action: 'replay', letters: 'all', wantsAnswer: true },
  );
  await takeUpRequests(folder, () => ({ count: 0, refusal: 'it cannot' }), CLICKS);
  assert.deepEqual(await answers, [
    { ...LINES, answer: { count: 2, refusal: undefined } },
    { ...CLICKS, answer: { count: 0, refusal: 'it cannot' } },
  ]);
  assert.deepEqual(await left(), []);
});

test('at the limit what was not taken up is withdrawn', async (t) => {
  const { folder, clock, context, requests, left, asked } = await conversation(t);
  const answers = askTasks(requests, 1_000, context);
  await asked();
  await takeUpRequests(folder, () => ({ count: 1, refusal: undefined }), LINES);
  await eventually(() => clock.pendingTimers > 0);
  clock.advance(1_000);
  assert.deepEqual(await answers, [
    { ...LINES, answer: { count: 1, refusal: undefined } },
    { ...CLICKS, answer: undefined },
  ]);
  assert.deepEqual(await left(), []);
});

test('Ctrl-C withdraws at once', async (t) => {
  const { interruption, context, requests, left, asked } = await conversation(t);
  const answers = askTasks(requests, 1_000, context);
  await asked();
  interruption.abort();
  assert.deepEqual(
    (await answers).map(({ answer }) => answer),
    [undefined, undefined],
  );
  assert.deepEqual(await left(), []);
});

test('requests that nobody waits for stay until they are taken up, unanswered', async (t) => {
  const { folder, context, requests, left, asked } = await conversation(t);
  await leaveRequests(requests, context);
  await asked();
  for (const owner of [LINES, CLICKS]) {
    const [request] = await takeUpRequests(folder, () => assert.fail('no answer is wanted'), owner);
    assert.equal(request?.wantsAnswer, false);
  }
  assert.deepEqual(await left(), []);
});

test('a folder that cannot be written is said, and none is left elsewhere', async (t) => {
  const { folder, context, requests, left } = await conversation(t);
  const nowhere = {
    action: 'purge',
    letters: [],
    file: { folder: '/proc/nope', ...CLICKS },
  } as const;
  const failed = askTasks([...requests, nowhere], 1_000, context);
  await assert.rejects(failed, { code: 'FILE_FAILED' });
  assert.deepEqual(await left(), [], folder);
});
