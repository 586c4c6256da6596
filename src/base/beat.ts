import type { ProcessIdentity } from './process-identity.ts';

/*
  How a process shows the one that supervises it that it makes progress: that it lives, its pid
  says; that its event loop turns, only the process itself can show. The word for it is a beat.

    child of an executor   a byte on a pipe that the executor reads (net/beat-pipe.ts)
    executor               the time of a file in its container's folder (supervision/beat-file.ts),
                           which a scheduler that did not start it sees as well

  B1. What beats is the loop that answers others: an instance's gateway, whatever its task's thread
      is doing for how long, and the only loop of every other process.
  B2. A beat costs one write of a byte, or one change of a date: a full disk does not stop it.
*/

/** Names the process that the beats are for: a grandchild inherits it, and is nobody's child. */
export const BEAT_VARIABLE = 'HERON_BEATS_FOR';

/** Where a child finds its end of the pipe. */
export const BEAT_DESCRIPTOR = 3;

/** A beat a second: far below every useful limit, and nothing that a machine notices. */
const PERIOD_MAX_MS = 1_000;

/** So many may be lost or late before the silence is as long as its limit. */
const BEATS_PER_LIMIT = 4;

/** How often to beat for somebody who acts when nothing is heard for `silenceMs`. */
export function beatPeriodMs(silenceMs: number): number {
  return Math.max(1, Math.min(PERIOD_MAX_MS, Math.floor(silenceMs / BEATS_PER_LIMIT)));
}

/** What a child's environment says so that it beats for its parent. */
export function beatsFor({ pid }: Pick<ProcessIdentity, 'pid'>): NodeJS.ProcessEnv {
  return { [BEAT_VARIABLE]: String(pid) };
}
