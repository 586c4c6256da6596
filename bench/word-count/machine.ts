import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/* What a topology's processes use, and what the rest of the machine does meanwhile (Linux). */

/** Clock ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface ProcessUse {
  /** Heron's name of the process, without numbers: `heron-instance`, `heron-stmgr`. */
  readonly kind: string;
  /** Of an instance its component, else the kind. */
  readonly part: string;
  readonly pid: number;
  readonly cpuSeconds: number;
  readonly pssMb: number;
}

/** All processes that were started for a data root: it stands in their arguments. */
export function processesOf(dataRoot: string): ProcessUse[] {
  const found: ProcessUse[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (!command.includes(dataRoot)) continue;
      const kind = command.split(' ', 1)[0] ?? '';
      found.push({
        kind,
        part: /--instance-id=container_\d+_(\S+)_\d+/.exec(command)?.[1] ?? kind,
        pid,
        cpuSeconds: cpuSecondsOf(pid),
        pssMb: pssMbOf(pid),
      });
    } catch {
      continue; // Gone between two reads.
    }
  }
  return found;
}

/** Gives their sessions more weight than the rest of the machine, as far as this user may. */
export function raiseWeight(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      writeFileSync(`/proc/${pid}/autogroup`, '-10');
    } catch {
      return; // Not root, or no autogroups: the figures are then those of a shared machine.
    }
  }
}

/** Busy seconds of all processors together since the machine was started. */
export function busySeconds(): number {
  const [allProcessors = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = allProcessors.split(/\s+/).map(Number);
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks;
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}

function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function pssMbOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}
