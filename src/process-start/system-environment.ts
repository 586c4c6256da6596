import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { openLogger } from '../base/log-file.ts';
import { systemMachineTime } from '../base/machine-time.ts';
import { systemProcessIdentities } from '../base/process-identities.ts';
import { isPipe } from '../base/pipe.ts';
import { createSystemRandom } from '../base/random.ts';
import { RotatingFile } from '../base/rotating-file.ts';
import { systemFiles } from '../base/system-files.ts';
import type { RuntimeUse } from '../metrics/runtime-metrics.ts';
import type { HttpServerOptions } from '../net/http-rules.ts';
import type { Network } from '../net/network.ts';
import { sayReady } from '../supervision/ready-message.ts';
import type { ProcessTable } from '../supervision/process-table.ts';
import type { ProcessEnvironment } from './process-environment.ts';
import { systemResourceUse } from './system-resource-use.ts';
import { watchRuntime } from './system-runtime-use.ts';

/** Most processes start and signal no others, and need not load what that takes. */
const onlyIdentities: ProcessTable = {
  ...systemProcessIdentities,
  startDependent: refuse,
  startDetached: refuse,
  signal: refuse,
  findByVariable: refuse,
  lastLinesOf: refuse,
};

/** Loaded with the first use: the scheduler has no connections. */
const network: Network = {
  listen: async (...call) => (await loadNetwork()).listen(...call),
  connect: async (...call) => (await loadNetwork()).connect(...call),
};

async function loadNetwork(): Promise<Network> {
  const { tcpNetwork } = await import('../net/tcp-network.ts');
  return tcpNetwork;
}

/**
 * The real world.
 *
 * @param processes `systemProcessTable` for a process that supervises others.
 */
export function systemEnvironment(processes: ProcessTable = onlyIdentities): ProcessEnvironment {
  let readRuntime: (() => RuntimeUse) | undefined;
  return {
    arguments: process.argv.slice(2),
    variables: process.env,
    pid: process.pid,
    executable: process.execPath,
    workingDirectory: process.cwd(),
    clock: systemClock,
    machineTime: systemMachineTime,
    random: createSystemRandom(),
    network,
    files: systemFiles,
    processes,
    // Not every process has such a port.
    listenHttp: async (options: HttpServerOptions) => {
      const { listenHttp } = await import('../net/http-server.ts');
      return listenHttp(options);
    },
    openLog: (options) => openLogger({ ...options, clock: systemClock }),
    openAppendFile: (options) => new RotatingFile(options),
    resourceUse: () => {
      // Watched from the first question on: not every process has metrics.
      readRuntime ??= watchRuntime();
      return { ...systemResourceUse(), runtime: readRuntime() };
    },
    startBeating,
    answerParent,
    sayReady,
  };
}

/** Whoever beats has connections as well, and would load what it takes a moment later. */
function startBeating(periodMs: number): void {
  void import('../net/beat-pipe.ts').then((pipe) => pipe.startBeating(periodMs));
}

function answerParent(): void {
  if (!isPipe(0)) return;
  void import('../inspection/answer-parent.ts').then((inspection) =>
    inspection.answerParent(process.stdin, { thread: 'own' }),
  );
}

function refuse(): never {
  assert(false, 'a process that supervises others gets the whole process table');
}
