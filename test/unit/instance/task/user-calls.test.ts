import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UserCalls } from '../../../../src/instance/task/user-calls.ts';
import {
  createTaskStatusMemory,
  TaskStatusReader,
  TaskStatusWriter,
} from '../../../../src/instance/task-status.ts';
import { anIdentity } from '../../../support/task-in-test.ts';

function aCaller() {
  const memory = createTaskStatusMemory();
  const calls = new UserCalls(anIdentity('middle', 3), new TaskStatusWriter(memory));
  return { calls, gateway: new TaskStatusReader(memory) };
}

describe('a call of user code', () => {
  it('is seen from the gateway while it lasts', async () => {
    const { calls, gateway } = aCaller();
    const seen: unknown[] = [];
    const gate = Promise.withResolvers<number>();
    const call = calls.call('open', () => {
      seen.push([gateway.callback, gateway.activity]);
      return gate.promise;
    });
    seen.push([gateway.callback, gateway.activity]);
    gate.resolve(7);
    assert.equal(await call, 7);
    seen.push([gateway.callback, gateway.activity]);
    assert.deepEqual(seen, [
      ['open', 'user-code'],
      ['open', 'promise'],
      ['open', 'idle'],
    ]);
  });

  for (const [how, fail] of [
    ['throws', () => assert.fail('no file')],
    ['rejects', () => Promise.reject(new Error('no file'))],
  ] as const) {
    it(`that ${how} is named`, async () => {
      const { calls, gateway } = aCaller();
      await assert.rejects(calls.call('close', fail), {
        code: 'COMPONENT_FAILED',
        message: "close of 'middle' (task 3) failed: no file",
      });
      assert.equal(gateway.activity, 'idle');
    });
  }
});
