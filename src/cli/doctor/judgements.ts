import { isoTime } from '../../base/iso-time.ts';
import { platformProblem } from '../../base/platform.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import { type StateAddress, stateAddressText } from '../../state-manager/state-address.ts';
import { type Check, fail, ok, warn } from './check.ts';

/* What measured facts mean. Pure; examine.ts measures. */

export interface PlatformFacts {
  readonly nodeVersion: string;
  readonly platform: string;
  readonly architecture: string;
  readonly engineVersion: string;
}

export function judgePlatform(facts: PlatformFacts): Check {
  const { nodeVersion, platform, architecture, engineVersion } = facts;
  const problem = platformProblem(nodeVersion, platform);
  if (problem !== undefined) return fail('node', problem, 'install that Node and run it again');
  const where = `Node ${nodeVersion} on ${platform} ${architecture}`;
  return ok('node', `heron-ts ${engineVersion} with ${where}`);
}

export interface DiskFacts {
  readonly folder: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly freeFiles: number;
  /** 0 where the file system makes as many as it is asked for. */
  readonly totalFiles: number;
}

/** Archives, state and one container's logs of their usual size fit into it, but no more. */
const FREE_BYTES_MIN = 200 * BYTES_PER_MB;
const FREE_BYTES_WANTED = 2_000 * BYTES_PER_MB;
const FREE_FILES_MIN = 1_000;

export function judgeDisk({ folder, freeBytes, totalBytes, ...files }: DiskFacts): Check {
  const free = `${megabytes(freeBytes)} of ${megabytes(totalBytes)} MB are free for ${folder}`;
  const next = 'make room there, or let HERON_DATA name a folder on a larger disk';
  if (freeBytes < FREE_BYTES_MIN) return fail('disk', free, next);
  if (files.totalFiles > 0 && files.freeFiles < FREE_FILES_MIN) {
    return fail('disk', `only ${files.freeFiles} more files can be made in ${folder}`, next);
  }
  return freeBytes < FREE_BYTES_WANTED ? warn('disk', free, next) : ok('disk', free);
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_MB);
}

export interface ClockFacts {
  readonly wallMs: number;
  /** When the file system says that a file was written which was written just now. */
  readonly fileMs: number;
}

/** The first moment of 2026: the engine is younger. */
const EARLIEST_MS = 1_767_225_600_000;
/** Far above what writing a file takes. */
const SKEW_MAX_MS = 5_000;
const SYNCHRONIZE = 'synchronize the clocks, for example with chrony or systemd-timesyncd';

export function judgeClock({ wallMs, fileMs }: ClockFacts): Check {
  const now = isoTime(wallMs);
  if (wallMs < EARLIEST_MS) {
    return fail('clock', `this machine says that it is ${now}`, SYNCHRONIZE);
  }
  const skewMs = Math.abs(wallMs - fileMs);
  if (skewMs <= SKEW_MAX_MS) return ok('clock', `it is ${now}`);
  const seconds = Math.round(skewMs / 1000);
  const text = `the clock of the file system and this machine's are ${seconds} s apart`;
  return warn('clock', text, SYNCHRONIZE);
}

export interface StateFacts {
  readonly cluster: string;
  readonly address: StateAddress;
  /** Undefined where there are no sessions. */
  readonly grantedMs: number | undefined;
}

/** Of a state store that was written and read. */
export function judgeState({ cluster, address, grantedMs }: StateFacts): Check {
  const where = stateAddressText(address);
  const works = `the state of ${cluster} can be written and read in ${where}`;
  if (address.kind === 'file' || grantedMs === undefined) return ok('state', works);
  const { sessionTimeoutMs } = address;
  const sessions = `${works}; its servers keep sessions for ${grantedMs} ms`;
  if (grantedMs === sessionTimeoutMs) return ok('state', sessions);
  return warn(
    'state',
    `${sessions}, not ${sessionTimeoutMs}`,
    'set heron.statemgr.zookeeper.session.timeout.ms so, or their maxSessionTimeout otherwise',
  );
}

export interface SchedulerFacts {
  readonly cluster: string;
  readonly running: readonly string[];
  /** Topologies with records, but without a scheduler that lives. */
  readonly dead: readonly string[];
}

const NAMED_MAX = 5;

export function judgeSchedulers({ cluster, running, dead }: SchedulerFacts): Check {
  if (dead.length === 0) {
    return ok('scheduler', `topologies: ${running.length}, each with a scheduler that lives`);
  }
  const named = dead.slice(0, NAMED_MAX).join(', ');
  const others = dead.length > NAMED_MAX ? ` and ${dead.length - NAMED_MAX} more` : '';
  const next = `'heron list ${cluster}' starts what can run; 'heron kill' removes the rest`;
  return warn('scheduler', `no scheduler lives of ${named}${others}`, next);
}
