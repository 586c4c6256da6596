import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { identityOf } from '../../src/base/process-identity.ts';

/*
  What runs on this machine, as Linux shows it: processes by a text in their command line or
  environment, the sockets that they listen on, and their memory.
*/

export interface FoundProcess {
  readonly pid: number;
  /** As `heron status` names it: `stmgr-1`, `container_1_words_3`, `executor-0`, `scheduler`. */
  readonly name: string;
  readonly commandLine: string;
}

/**
 * Every process with the text in its command line or in its environment, which children inherit.
 */
export function processesWith(text: string): readonly FoundProcess[] {
  return pids().flatMap((pid) => {
    const commandLine = readProcFile(pid, 'cmdline').replaceAll('\0', ' ').trim();
    const isOurs = commandLine.includes(text) || readProcFile(pid, 'environ').includes(text);
    // A process that has ended stays in the table until its parent has asked for its exit code.
    if (!isOurs || identityOf(pid) === undefined) return [];
    return [{ pid, name: nameIn(commandLine), commandLine }];
  });
}

/** The sockets that processes listen on; a number is one socket's own, and never given again. */
export function listeningSockets(processes: readonly FoundProcess[]): ReadonlySet<string> {
  const listening = listeningNow();
  const own = processes.flatMap(({ pid }) => socketsOf(pid));
  return new Set(own.filter((socket) => listening.has(socket)));
}

/** Those of the sockets on which somebody still listens. */
export function stillListening(sockets: ReadonlySet<string>): readonly string[] {
  const listening = listeningNow();
  return [...sockets].filter((socket) => listening.has(socket));
}

/** The most memory that a process has had at once, in MiB; 0 when it is gone. */
export function peakMemoryMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readProcFile(pid, 'status'))?.[1];
  return Math.round(Number(kilobytes ?? 0) / 1024);
}

/** The memory that a process has now, in MiB; 0 when it is gone. */
export function memoryMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProcFile(pid, 'status'))?.[1];
  return Math.round(Number(kilobytes ?? 0) / 1024);
}

function pids(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** Empty when the process is gone, or belongs to somebody else. */
function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

function nameIn(commandLine: string): string {
  const flag = (name: string): string | undefined =>
    new RegExp(`--${name}=(\\S+)`).exec(commandLine)?.[1];
  const id = flag('instance-id') ?? flag('id');
  if (id !== undefined) return id;
  if (commandLine.includes('heron-scheduler') || commandLine.includes('scheduler/local/main')) {
    return 'scheduler';
  }
  const isMaster = flag('server-port') !== undefined && flag('stats-port') !== undefined;
  if (isMaster) return 'heron-tmanager';
  const container = flag('container-id');
  return container === undefined ? commandLine : `executor-${container}`;
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  let descriptors: readonly string[];
  try {
    descriptors = readdirSync(folder);
  } catch {
    return [];
  }
  return descriptors.flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${descriptor}`))?.[1] ?? [];
    } catch {
      return []; // Closed since the folder was read.
    }
  });
}

/*
  /proc/net/tcp => title line, then for each socket
    slot ":" local remote state queues timer retransmits uid timeout inode ...
*/
const STATE_FIELD = 3;
const INODE_FIELD = 9;
const LISTEN = '0A';

function listeningNow(): ReadonlySet<string> {
  const rows = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'latin1').split('\n').slice(1),
  );
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return new Set(
    fields.flatMap((field) => (field[STATE_FIELD] === LISTEN ? [field[INODE_FIELD] ?? ''] : [])),
  );
}
