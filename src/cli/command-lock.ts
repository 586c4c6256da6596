import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { hasCode } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import { paths } from '../state-manager/paths.ts';
import { sameBytes } from '../state-manager/same-bytes.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { AdvisedError } from './advised-error.ts';
import { watchUntil } from './watch-until.ts';

/*
  Commands that change what a topology is take turns, by an ephemeral node that dies with its
  command. So what `submit` finds of a topology while it holds the lock is either a topology that
  runs or the wreckage of a command that died, never one that is just being made.

  The store may take the lock away from a command that lives: its session ran out while it was
  suspended or cut off. Another command may have the lock then, so this one ends; its state manager
  writes nothing any more (`endsWithLostNodes`), and what it has begun is finished by the next.
*/

/** A submit holds the lock until its scheduler runs, a kill until nothing is left. */
const LOCK_LIMIT_MS = 120_000;

/**
 * Runs `work` while no other command works on the topology.
 *
 * @throws EngineError TOPOLOGY_NOT_READY when another one does not come to its end,
 *   STATE_UNAVAILABLE when the lock is lost meanwhile.
 */
export async function withCommandLock<Result>(
  lock: {
    readonly stateManager: StateManager;
    readonly clock: Clock;
    readonly name: TopologyName;
    /** The command that asks, for people. */
    readonly command: string;
    readonly onWait: (holder: string) => void;
  },
  work: () => Promise<Result>,
): Promise<Result> {
  const { stateManager, clock, name, command, onWait } = lock;
  const path = paths.command(name);
  const text = `${command} (pid ${process.pid} on ${hostname()})`;
  const deadlineMs = clock.now() + LOCK_LIMIT_MS;
  while (!(await tryCreate(stateManager, path, text))) {
    const holder = await stateManager.read(path);
    if (holder === undefined) continue;
    onWait(Buffer.from(holder).toString());
    const limitMs = deadlineMs - clock.now();
    const isFree = await watchUntil(
      { stateManager, clock, path, limitMs },
      (bytes) => bytes === undefined,
    );
    if (!isFree) throw stillHeld(name, Buffer.from(holder).toString());
  }
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  let isLost = false;
  const watch = stateManager.watch(path, (bytes) => {
    isLost = !sameBytes(bytes, Buffer.from(text));
    if (isLost) lose(lostLock(name, command));
  });
  try {
    return await Promise.race([work(), lost]);
  } finally {
    watch.close();
    if (!isLost) await stateManager.delete(path);
  }
}

async function tryCreate(stateManager: StateManager, path: string, text: string): Promise<boolean> {
  try {
    await stateManager.create(path, Buffer.from(text), { ephemeral: true });
    return true;
  } catch (error) {
    if (hasCode(error, 'STATE_EXISTS')) return false;
    throw error;
  }
}

function lostLock(name: TopologyName, command: string) {
  const message = `'${command}' has lost its lock on ${name}: the state store has removed it`;
  return new AdvisedError('STATE_UNAVAILABLE', message, {
    domain: 'environment',
    next: 'run the same command again, which goes on where this one stopped',
  });
}

function stillHeld(name: TopologyName, holder: string) {
  return new AdvisedError('TOPOLOGY_NOT_READY', `'${holder}' still works on ${name}`, {
    domain: 'environment',
    retryable: true,
    next: 'wait for that command, or end it and try again',
  });
}
