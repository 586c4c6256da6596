import type { TaskId } from '../base/ids.ts';
import type { InstanceSession } from './instance-session.ts';
import type { LocalTask } from './local-tasks.ts';

/** A set that an instance sent before there was a plan with its task. */
interface EarlySet {
  readonly session: InstanceSession;
  readonly local: LocalTask;
  readonly bytes: Uint8Array;
}

/** Sets that wait for a plan. They count against their sources' windows, which stay closed. */
export class EarlySets {
  #sets: EarlySet[] = [];

  get byteLength(): number {
    return this.#sets.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  hold(session: InstanceSession, local: LocalTask, bytes: Uint8Array): void {
    this.#sets.push({ session, local, bytes });
    local.source.setHeldBack();
  }

  /** A plan is in force: sets of its tasks are handled, in order, those of tasks gone dropped. */
  letGo(
    isHere: (task: TaskId) => boolean,
    handle: (local: LocalTask, bytes: Uint8Array) => void,
  ): void {
    const sets = this.#sets;
    this.#sets = [];
    for (const set of sets) {
      const { session, local, bytes } = set;
      if (!isHere(local.source.task)) continue;
      if (!local.isPlanned) {
        this.#sets.push(set);
        continue;
      }
      try {
        handle(local, bytes);
      } catch (error) {
        session.connection.failHandler(error);
      } finally {
        local.source.setLetGo();
      }
    }
  }
}
