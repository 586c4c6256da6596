import type { Clock } from '../../../src/base/clock.ts';
import { hasCode } from '../../../src/base/errors.ts';
import type { Files } from '../../../src/base/files.ts';
import {
  encodeContainerReport,
  parseContainerReport,
} from '../../../src/model/container-report.ts';
import type { ContainerReport, ProcessReport } from '../../../src/model/container-report.ts';
import { encodeCompletion, parseCompletion } from '../../../src/model/completion.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { systemError } from '../../../src/simulation/kernel/system-error.ts';
import type { ProcessTable } from '../../../src/supervision/process-table.ts';
import { type Defect, lying, RUN_ENDS } from './defect.ts';

/* What can go wrong with processes, files, watches and timers. */

const EVERYONE = /^/;
const SCHEDULER = /^scheduler$/;
const EXECUTORS = /^executor-/;
const MASTER = /^heron-tmanager$/;
const STREAM_MANAGERS = /^stmgr-/;

export const PROCESS_DEFECTS: readonly Defect[] = [
  {
    name: 'a watch is lost: the scheduler never hears of the completion',
    foundBy: RUN_ENDS,
    seeds: [1, 2],
    interposer: withFiles(SCHEDULER, (files) =>
      lying(files, {
        read: (file) =>
          file.includes('/completed/')
            ? Promise.reject(systemError('ENOENT', 'open', file))
            : files.read(file),
      }),
    ),
  },
  {
    name: 'a watch is lost: stream managers never hear of another master',
    foundBy: RUN_ENDS,
    seeds: [5, 25],
    interposer: withFiles(STREAM_MANAGERS, (files) => lying(files, { read: stuckReads(files) })),
  },
  {
    name: 'a restart is counted twice',
    foundBy: 'processes are supervised',
    seeds: [1, 2],
    interposer: withReports((report) => ({ ...report, restarts: report.restarts * 2 })),
  },
  {
    name: 'a loss is not reported',
    foundBy: 'end of input',
    seeds: [50, 196],
    interposer: withFiles(MASTER, (files) =>
      lying(files, {
        write: (file, bytes, options) => files.write(file, withoutIncidents(bytes), options),
      }),
    ),
  },
  {
    name: 'an executor starts an instance twice',
    foundBy: 'processes are supervised',
    seeds: [1, 2],
    interposer: withProcesses(EXECUTORS, (processes) => ({
      startDependent(command, openOutput) {
        if (command.name.startsWith('container_')) processes.startDependent(command, openOutput);
        return processes.startDependent(command, openOutput);
      },
    })),
  },
  {
    name: 'living executors are taken for dead',
    foundBy: 'processes are supervised',
    seeds: [26, 38],
    interposer: withProcesses(SCHEDULER, () => ({ isAlive: () => false })),
  },
  {
    name: 'a kill leaves a process',
    foundBy: RUN_ENDS,
    seeds: [1, 2],
    interposer: withProcesses(EXECUTORS, (processes) => ({
      startDependent(command, openOutput) {
        if (!command.name.startsWith('container_1')) {
          return processes.startDependent(command, openOutput);
        }
        const { HERON_TOPOLOGY_ID: _, ...environment } = command.environment;
        const escaped = { ...command, environment, pidFolder: undefined };
        const handle = processes.startDetached(escaped, '/heron/escaped');
        const { promise: ended, resolve } = Promise.withResolvers<Awaited<typeof handle.ended>>();
        void handle.ended.then(resolve);
        const signal = (): void => resolve({ code: 0, signal: null, lastLines: [] });
        return { ...handle, ended, signal };
      },
    })),
  },
  {
    name: 'a kill leaves a node',
    foundBy: 'nothing is left behind',
    seeds: [1, 2],
    interposer: withFiles(EVERYONE, (files) =>
      lying(files, {
        unlink: (file) =>
          file.includes('/executionstate/') ? Promise.resolve() : files.unlink(file),
      }),
    ),
  },
  {
    name: 'the node of a dead owner is taken for alive',
    foundBy: RUN_ENDS,
    seeds: [1, 5],
    interposer: withProcesses(EVERYONE, () => ({ isAlive: () => true })),
  },
  {
    name: 'the end of a process is not noticed',
    foundBy: RUN_ENDS,
    seeds: [1, 2],
    interposer: withProcesses(EXECUTORS, (processes) => ({
      startDependent(command, openOutput) {
        const handle = processes.startDependent(command, openOutput);
        const isWatched = command.name.startsWith('metricsmgr-');
        return isWatched ? handle : { ...handle, ended: new Promise(() => {}) };
      },
    })),
  },
  {
    name: 'a back-off does not end',
    foundBy: RUN_ENDS,
    seeds: [1, 2],
    interposer: () => ({
      portsOf: (ports, { name }) =>
        EXECUTORS.test(name) ? { ...ports, clock: withEndlessWaits(ports.clock) } : ports,
    }),
  },
  {
    name: 'a rename is lost',
    foundBy: 'commands reach their outcome',
    seeds: [17, 13],
    interposer: withFiles(MASTER, (files) => {
      let plans = 0;
      return lying(files, {
        rename(from, to) {
          if (!to.includes('/pplans/')) return files.rename(from, to);
          plans += 1;
          return plans === 1 ? files.rename(from, to) : files.unlink(from);
        },
      });
    }),
  },
  {
    name: 'an epoch is given twice',
    foundBy: 'plans only become newer',
    seeds: [4, 13],
    interposer: withFiles(EVERYONE, (files) => {
      return lying(files, {
        rename: (from, to) =>
          to.includes('/epochs/') ? files.unlink(from) : files.rename(from, to),
      });
    }),
  },
];

function withFiles(names: RegExp, lie: (files: Files) => Files): () => Interposer {
  return () => ({
    portsOf: (ports, { name }) =>
      names.test(name) ? { ...ports, files: lie(ports.files) } : ports,
  });
}

function withProcesses(
  names: RegExp,
  lies: (processes: ProcessTable) => Partial<ProcessTable>,
): () => Interposer {
  return () => ({
    processesOf: (processes, { name }) =>
      names.test(name) ? lying(processes, lies(processes)) : processes,
  });
}

/** Executors store other reports than they make. */
function withReports(change: (report: ProcessReport) => ProcessReport): () => Interposer {
  return withFiles(EXECUTORS, (files) =>
    lying(files, {
      write(file, bytes, options) {
        const report = reportIn(bytes);
        if (report === undefined) return files.write(file, bytes, options);
        const changed = { ...report, processes: report.processes.map(change) };
        return files.write(file, encodeContainerReport(changed), options);
      },
    }),
  );
}

/** A record of a completion loses its incidents; everything else stays as it is. */
function withoutIncidents(bytes: Uint8Array): Uint8Array {
  try {
    const completion = parseCompletion(bytes);
    return encodeCompletion({ ...completion, result: 'completed', incidents: [] });
  } catch (error) {
    if (!hasCode(error, 'STATE_CORRUPTED')) throw error;
    return bytes; // Something else is written.
  }
}

function reportIn(bytes: Uint8Array): ContainerReport | undefined {
  try {
    return parseContainerReport(bytes);
  } catch (error) {
    if (!hasCode(error, 'STATE_CORRUPTED')) throw error;
    return undefined; // Something else is written.
  }
}

/** What was once read of a master's location is read for ever. */
function stuckReads(files: Files): Files['read'] {
  const known = new Map<string, Uint8Array>();
  return async (file) => {
    const bytes = known.get(file) ?? (await files.read(file));
    if (/\/tmanagers\/|tmanagers%2F/.test(file)) known.set(file, bytes);
    return bytes;
  };
}

/** A restart's first pause takes a second at most. */
const WAIT_MS = { min: 5, max: 1_000 };

function withEndlessWaits(clock: Clock): Clock {
  return lying(clock, {
    after: (delayMs, call) =>
      delayMs > WAIT_MS.min && delayMs <= WAIT_MS.max
        ? { cancel: () => {} }
        : clock.after(delayMs, call),
  });
}
