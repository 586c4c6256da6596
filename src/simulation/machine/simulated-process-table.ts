import type { Files } from '../../base/files.ts';
import { messageOf } from '../../base/errors.ts';
import { removePidFile, writePidFile } from '../../supervision/pid-file.ts';
import type { Ending, ProcessHandle } from '../../supervision/process-handle.ts';
import type { Command, ProcessTable } from '../../supervision/process-table.ts';
import type { HostMachine } from './host-machine.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/*
  The port ProcessTable as one process of a simulated machine sees it. Its promises (P1 to P3 of the
  port) are kept as on a real machine: a dependent child's standard input is held by its parent, and
  whoever starts a child writes and removes its pid file itself.
*/

export function processTableOf(
  machine: HostMachine,
  asker: SimulatedProcess,
  files: Files,
): ProcessTable {
  return {
    own: () => asker.identity,
    identityOf: (pid) => machine.find(pid)?.identity,
    isAlive: ({ bootId, pid, startTicks }) =>
      bootId === machine.bootId && machine.find(pid)?.identity.startTicks === startTicks,
    startDependent: (command, openOutput) => {
      const output = openOutput();
      const onOutput = (text: string): void => void output.append(text);
      return startChild(command, { machine, asker, files, parent: asker, onOutput });
    },
    startDetached: (command, outputFile) =>
      startChild(command, { machine, asker, files, outputFile }),
    // Each process leads a group of its own, and nothing that it starts stays in it.
    signal: (pid, name) => {
      if (asker.state !== 'ended') machine.find(pid)?.signal(name);
    },
    findByVariable: (name, value) =>
      machine.processes
        .filter(({ command, pid }) => command.environment[name] === value && pid !== asker.pid)
        .map(({ identity }) => identity),
    lastLinesOf: (outputFile, linesMax) => machine.lastLinesOf(outputFile).slice(-linesMax),
  };
}

interface ChildStart {
  readonly machine: HostMachine;
  readonly asker: SimulatedProcess;
  readonly files: Files;
  /** The one with which it ends. */
  readonly parent?: SimulatedProcess;
  readonly outputFile?: string;
  readonly onOutput?: (text: string) => void;
}

function startChild(
  command: Command,
  { machine, asker, files, outputFile, ...start }: ChildStart,
): ProcessHandle {
  const { pidFolder, name } = command;
  if (asker.state === 'ended') return startedInVain();
  const ready = Promise.withResolvers<void>();
  const child = machine.start(command, {
    ...start,
    onReady: () => void asker.mainThread.post(0, ready.resolve),
  });
  if (outputFile !== undefined) machine.noteOutput(outputFile, child);
  if (pidFolder !== undefined) {
    try {
      writePidFile(files, pidFolder, { name, identity: child.identity });
    } catch (error) {
      child.signal('SIGKILL'); // Without a pid file it would be lost to the next supervisor.
      return neverStarted(command, error);
    }
  }
  const ended = new Promise<Ending>((resolve) => {
    child.onEnd(asker.mainThread, ({ code, signal, lastLines }) => {
      if (pidFolder !== undefined) removePidFile(files, pidFolder, name);
      resolve({ code, signal, lastLines });
    });
  });
  const handle: ProcessHandle = {
    pid: child.pid,
    ended,
    signal(signal) {
      child.signal(signal);
      if (signal === 'SIGTERM' && start.parent !== undefined) child.endInput();
    },
  };
  return {
    ...handle,
    ...(command.saysReady === true && { ready: ready.promise }),
    ...(command.beats === true && { beats: () => child.beats }),
  };
}

function neverStarted({ name }: Command, error: unknown): ProcessHandle {
  const startProblem = `${name} cannot be started: ${messageOf(error)}`;
  const ended = Promise.resolve({ code: null, signal: null, lastLines: [], startProblem });
  return { pid: undefined, ended, signal: () => {} };
}

/** For a process that starts another one after its own end. */
function startedInVain(): ProcessHandle {
  return { pid: undefined, ended: new Promise(() => {}), signal: () => {} };
}
