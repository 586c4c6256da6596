import type { GatewayEnvironment } from '../../instance/gateway/gateway-environment.ts';
import { simulatedListenHttp } from '../kernel/simulated-http.ts';
import type { SimulatedThread } from '../kernel/simulated-thread.ts';
import type { MainEnvironment, ThreadPorts } from './interposer.ts';
import { startSimulatedGateway } from './simulated-gateway.ts';
import { openSimulatedLog } from './simulated-log.ts';
import type { HostMachine } from './host-machine.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { processTableOf } from './simulated-process-table.ts';

/*
  The world as the processes of a simulated machine see it. An instance's second thread sees the
  same world from its own point: its time, its connections and its files are its own.
*/

const RESIDENT_BYTES = 64 * 1024 * 1024;

/** The environment of a process's main thread; `args` is what follows its entry file. */
export function environmentOf(
  machine: HostMachine,
  process: SimulatedProcess,
  { args, sayReady }: { readonly args: readonly string[]; readonly sayReady: () => void },
): MainEnvironment {
  const { command, mainThread, pid } = process;
  const world = threadPortsOf(machine, process, mainThread);
  const processes = processTableOf(machine, process, world.files);
  return {
    ...world,
    arguments: args,
    variables: command.environment,
    pid,
    executable: command.executable,
    workingDirectory: command.workingDirectory,
    machineTime: () => ({ bootId: machine.bootId, ms: machine.kernel.nowMs }),
    processes: machine.interposer.processesOf?.(processes, process) ?? processes,
    listenHttp: simulatedListenHttp(world.network),
    // Output and metrics: nobody reads them in a simulation.
    openAppendFile: () => ({ append: () => true, close: () => {} }),
    sayReady,
    process: process.identity,
    startBeating: (periodMs) => process.startBeating(mainThread, periodMs),
    answerParent: () => {},
    roomWait: () => ({ wait: () => false }),
    startGateway: (start, events) =>
      startSimulatedGateway(process, (thread) => gatewayEnvironmentOf(machine, process, thread), {
        start,
        events,
      }),
    loadTopology: (_file, options) => machine.loadTopology(process, options),
  };
}

export function gatewayEnvironmentOf(
  machine: HostMachine,
  process: SimulatedProcess,
  thread: SimulatedThread,
): GatewayEnvironment {
  return {
    ...threadPortsOf(machine, process, thread),
    startBeating: (periodMs) => process.startBeating(thread, periodMs),
    answerParent: () => {}, // Nobody asks: a look from outside has no place in simulated time.
    taskStack: async () => undefined, // As from a thread that is inside a native call.
    kill: () => process.signal('SIGKILL'),
    watchParent: (onGone) => process.onInputEnd(thread, onGone),
  };
}

function threadPortsOf(
  machine: HostMachine,
  process: SimulatedProcess,
  thread: SimulatedThread,
): ThreadPorts {
  const { clock } = thread;
  const ports: ThreadPorts = {
    clock,
    random: machine.kernel.random(`${thread.name} ${process.pid}`),
    network: machine.network.portOf(thread, process.host, process.name),
    files: machine.disk.filesOf(thread),
    doorbells: machine.doorbells.of(thread),
    openLog: ({ level }) =>
      openSimulatedLog({
        name: thread.name,
        level,
        nowMs: () => machine.kernel.nowMs,
        onLine: (line) => machine.handleLogLine(process, line),
      }),
    resourceUse: () => ({ cpuUserUs: 0, cpuSystemUs: 0, residentBytes: RESIDENT_BYTES }),
  };
  return machine.interposer.portsOf?.(ports, process, thread) ?? ports;
}
