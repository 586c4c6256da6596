import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, taskId } from '../../../../src/base/ids.ts';
import { describeBlockedTask } from '../../../../src/instance/gateway/blocked-task-report.ts';

const identity = { component: componentName('count'), task: taskId(3) };
const stack = '    at spin (words.ts:7:5)';

test('a call that does not return is shown with its stack', async () => {
  const blocked = { callback: 'execute', how: 'thread', blockedMs: 5_250 } as const;
  assert.equal(
    await describeBlockedTask(identity, blocked, async () => stack),
    "BlockedTask: execute of 'count' (task 3) has not returned for 5.3 s; it is here:\n" +
      '    at spin (words.ts:7:5)',
  );
});

test('inside a native call there is none', async () => {
  const blocked = { callback: 'open', how: 'thread', blockedMs: 5_000 } as const;
  assert.match(
    await describeBlockedTask(identity, blocked, async () => undefined),
    /^BlockedTask: open of 'count' \(task 3\) has not returned for 5\.0 s; .* native call/,
  );
});

test('a callback of the user is named as such', async () => {
  const blocked = { callback: 'none', how: 'thread', blockedMs: 5_000 } as const;
  const text = await describeBlockedTask(identity, blocked, async () => stack);
  assert.match(text, /^BlockedTask: a callback \(of a timer or a promise\) of 'count'/);
});

test('a promise has no stack, and none is taken', async () => {
  const blocked = { callback: 'finish', how: 'promise', blockedMs: 9_000 } as const;
  const text = await describeBlockedTask(identity, blocked, () => assert.fail('not needed'));
  assert.match(text, /finish of 'count' \(task 3\) waits for a promise .* settled for 9\.0 s/);
});
