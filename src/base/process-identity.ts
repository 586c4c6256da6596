import { readFileSync, readlinkSync } from 'node:fs';

/*
  Names one incarnation of one process, so that what it left behind (locks, nodes, pid files) can be
  told from what a live process holds. A pid alone cannot: pids are used again.

  On Linux a process is named by boot, pid and start time, and the answer is exact. Processes in
  different pid namespaces do not see each other, and a pid means something else to each: so the
  namespace is a part of the boot's name, as if they were on different machines. Elsewhere only the
  pid is compared: a dead process whose pid was given out again is then taken for alive.
*/

export interface ProcessIdentity {
  /**
   * Random for each start of the machine, followed by the pid namespace; empty where the platform
   * has none.
   */
  readonly bootId: string;
  readonly pid: number;
  /** Clock ticks from the start of the machine to the start of the process; 0 where unknown. */
  readonly startTicks: number;
}

const isLinux = process.platform === 'linux';
/** Random for each start of this machine; empty where the platform has none. */
export const machineBootId = isLinux ? readText('/proc/sys/kernel/random/boot_id') : '';
const ownBootId = isLinux ? `${machineBootId}.${pidNamespace()}` : '';
let own: ProcessIdentity | undefined;

/** The identity of the process that asks. */
export function ownIdentity(): ProcessIdentity {
  own ??= identityOf(process.pid) ?? { bootId: ownBootId, pid: process.pid, startTicks: 0 };
  return own;
}

/** The identity of a process that is alive now, or undefined when there is none with this pid. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  if (!isLinux) return answersSignals(pid) ? { bootId: ownBootId, pid, startTicks: 0 } : undefined;
  const status = readStatus(pid);
  if (status === undefined || hasEnded(status)) return undefined;
  return { bootId: ownBootId, pid, startTicks: status.startTicks };
}

/** False as soon as no thread of the process can act any more, reaped by its parent or not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== ownBootId) return false;
  return identityOf(identity.pid)?.startTicks === identity.startTicks;
}

/** Reads an identity out of parsed JSON; undefined when it is none. */
export function parseIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { bootId, pid, startTicks } = value as Record<string, unknown>;
  if (typeof bootId !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  if (typeof startTicks !== 'number' || !Number.isSafeInteger(startTicks)) return undefined;
  return { bootId, pid, startTicks };
}

function readText(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

/** The number in `pid:[4026531836]`. */
function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
}

interface ProcessStatus {
  readonly state: string;
  readonly threads: number;
  readonly startTicks: number;
}

/** A killed process stays in the process table until its parent asks for its exit code. */
function hasEnded({ state, threads }: ProcessStatus): boolean {
  // While other threads are left, one of them may still be inside its last system call.
  return (state === 'Z' || state === 'X') && threads <= 1;
}

/*
  /proc/<pid>/stat => pid " (" name ") " state(3) ... threads(20) ... startTicks(22) ...
    The name may hold spaces and parentheses; the numbers in parentheses are proc(5)'s.
*/
const FIRST_FIELD = 3;

function readStatus(pid: number): ProcessStatus | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error; // Too many open files, say: must not make a live process look dead.
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): string => fields[number - FIRST_FIELD] ?? '';
  return { state: field(3), threads: Number(field(20)), startTicks: Number(field(22)) };
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Refused means that it is there, under another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
