import { type Clock, delay } from '../base/clock.ts';
import { isAlive, type ProcessIdentity } from '../base/process-identity.ts';

/*
  Ending processes that may not be our children, so that nobody tells us when they are gone. A
  process is only ever signalled while its identity holds; being gone already counts as success.
*/

/** Short against a restart, long against the cost of a look into /proc. */
const POLL_PERIOD_MS = 20;

/** How long the kernel may take to clear a killed process away, with its memory to give back. */
const KILL_LIMIT_MS = 10_000;

/** Signals one process, or its whole process group; says nothing when it is gone. */
export function signalProcess(
  identity: ProcessIdentity,
  signal: 'SIGTERM' | 'SIGKILL',
  options: { readonly group?: boolean } = {},
): void {
  if (isAlive(identity)) sendSignal(options.group ? -identity.pid : identity.pid, signal);
}

/** Like `process.kill`, but a process that is gone or never was a group leader is no error. */
export function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** SIGTERM, then SIGKILL after the grace time. Resolves with those that still live. */
export async function endProcesses(
  identities: readonly ProcessIdentity[],
  options: { readonly clock: Clock; readonly graceMs: number },
): Promise<readonly ProcessIdentity[]> {
  const { clock, graceMs } = options;
  for (const identity of identities) signalProcess(identity, 'SIGTERM');
  const left = await waitUntilGone(identities, { clock, limitMs: graceMs });
  return killProcesses(left, clock);
}

/** SIGKILL at once, to each process and its group. Resolves with those that still live. */
export async function killProcesses(
  identities: readonly ProcessIdentity[],
  clock: Clock,
): Promise<readonly ProcessIdentity[]> {
  for (const identity of identities) {
    signalProcess(identity, 'SIGKILL', { group: true });
    signalProcess(identity, 'SIGKILL');
  }
  return waitUntilGone(identities, { clock, limitMs: KILL_LIMIT_MS });
}

/** Resolves with those that still live after `limitMs`, as soon as there are none at the latest. */
export async function waitUntilGone(
  identities: readonly ProcessIdentity[],
  options: { readonly clock: Clock; readonly limitMs: number },
): Promise<readonly ProcessIdentity[]> {
  const { clock, limitMs } = options;
  const deadlineMs = clock.now() + limitMs;
  let left = identities.filter(isAlive);
  while (left.length > 0 && clock.now() < deadlineMs) {
    await delay(clock, POLL_PERIOD_MS);
    left = left.filter(isAlive);
  }
  return left;
}
