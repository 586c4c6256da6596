import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { topologyName } from '../../../src/base/ids.ts';
import { withCommandLock } from '../../../src/cli/command-lock.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const NAME = topologyName('words');
const PATH = paths.command(NAME);

function aLock(tree: MemoryStateTree, command = 'heron submit') {
  const waited: string[] = [];
  const clock = new ManualClock();
  const stateManager = new MemoryStateManager(tree);
  const onWait = (holder: string): void => void waited.push(holder);
  return {
    lock: { stateManager, clock, name: NAME, command, onWait },
    stateManager,
    clock,
    waited,
  };
}

/** Work that the test ends. */
function aWork() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve('done') };
}

describe('the lock of a command', () => {
  it('is there while the command works, and names it', async () => {
    const { lock, stateManager } = aLock(new MemoryStateTree());
    const { work, end } = aWork();
    const outcome = withCommandLock(lock, work);
    await settled();
    const text = Buffer.from((await stateManager.read(PATH)) ?? []).toString();
    assert.match(text, new RegExp(`^heron submit \\(pid ${process.pid} on .+\\)$`));
    end();
    assert.equal(await outcome, 'done');
    assert.equal(await stateManager.read(PATH), undefined);
  });

  it('is waited for, and not for ever', async () => {
    const tree = new MemoryStateTree();
    const other = new MemoryStateManager(tree);
    await other.create(PATH, Buffer.from('heron kill (pid 7 on zk)'), { ephemeral: true });
    const { lock, clock, waited } = aLock(tree);
    const outcome = withCommandLock(lock, () => assert.fail('another one works'));
    outcome.catch(() => {}); // Looked at below.
    await settled();
    clock.advance(120_000);
    await assert.rejects(
      outcome,
      (error) =>
        hasCode(error, 'TOPOLOGY_NOT_READY') && error.message.includes('heron kill (pid 7'),
    );
    assert.deepEqual(waited, ['heron kill (pid 7 on zk)']);
  });

  it('O14: ends its command when a lost session took it, and leaves the next alone', async () => {
    const tree = new MemoryStateTree();
    const { lock, stateManager } = aLock(tree);
    const { work, end } = aWork();
    const outcome = withCommandLock(lock, work);
    outcome.catch(() => {}); // Looked at below.
    await settled();
    tree.expire(stateManager);
    const next = aLock(tree, 'heron kill');
    const nextWork = aWork();
    const nextOutcome = withCommandLock(next.lock, nextWork.work);
    await assert.rejects(
      outcome,
      (error) => hasCode(error, 'STATE_UNAVAILABLE') && /has lost its lock/.test(error.message),
    );
    end();
    await settled();
    const holder = Buffer.from((await next.stateManager.read(PATH)) ?? []).toString();
    assert.match(holder, /^heron kill/);
    nextWork.end();
    assert.equal(await nextOutcome, 'done');
  });
});
