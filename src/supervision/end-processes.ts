import { type Clock, delay } from '../base/clock.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { ProcessTable, SignalName } from './process-table.ts';

/*
  Ending processes that may not be our children, so that nobody tells us when they are gone. A
  process is only ever signalled while its identity holds; being gone already counts as success.
*/

export interface EndOptions {
  readonly processes: ProcessTable;
  readonly clock: Clock;
}

/** Short against a restart, long against the cost of a look into /proc. */
const POLL_PERIOD_MS = 20;

/** How long the kernel may take to clear a killed process away, with its memory to give back. */
const KILL_LIMIT_MS = 10_000;

/** Signals one process, or its whole process group; says nothing when it is gone. */
export function signalProcess(
  processes: ProcessTable,
  identity: ProcessIdentity,
  signal: SignalName,
  options: { readonly group?: boolean } = {},
): void {
  if (processes.isAlive(identity)) processes.signal(identity.pid, signal, options);
}

/** SIGTERM, then SIGKILL after the grace time. Resolves with those that still live. */
export async function endProcesses(
  identities: readonly ProcessIdentity[],
  options: EndOptions & { readonly graceMs: number },
): Promise<readonly ProcessIdentity[]> {
  const { processes, graceMs } = options;
  for (const identity of identities) signalProcess(processes, identity, 'SIGTERM');
  const left = await waitUntilGone(identities, { ...options, limitMs: graceMs });
  return killProcesses(left, options);
}

/** SIGKILL at once, to each process and its group. Resolves with those that still live. */
export async function killProcesses(
  identities: readonly ProcessIdentity[],
  options: EndOptions,
): Promise<readonly ProcessIdentity[]> {
  const { processes } = options;
  for (const identity of identities) {
    signalProcess(processes, identity, 'SIGKILL', { group: true });
    signalProcess(processes, identity, 'SIGKILL');
  }
  return waitUntilGone(identities, { ...options, limitMs: KILL_LIMIT_MS });
}

/** Resolves with those that still live after `limitMs`, as soon as there are none at the latest. */
export async function waitUntilGone(
  identities: readonly ProcessIdentity[],
  { processes, clock, limitMs }: EndOptions & { readonly limitMs: number },
): Promise<readonly ProcessIdentity[]> {
  const lives = (identity: ProcessIdentity): boolean => processes.isAlive(identity);
  const deadlineMs = clock.now() + limitMs;
  let left = identities.filter(lives);
  while (left.length > 0 && clock.now() < deadlineMs) {
    await delay(clock, POLL_PERIOD_MS);
    left = left.filter(lives);
  }
  return left;
}
