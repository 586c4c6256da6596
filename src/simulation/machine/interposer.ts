import type { InstanceEnvironment } from '../../instance/instance-environment.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import type { ProcessTable } from '../../supervision/process-table.ts';
import type { SimulatedThread } from '../kernel/simulated-thread.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The world of a main thread, whichever entry file it runs. */
export type MainEnvironment = ProcessEnvironment & InstanceEnvironment;

/** The ports that each thread of a process has for itself. */
export type ThreadPorts = Pick<
  MainEnvironment,
  'clock' | 'random' | 'network' | 'files' | 'openLog' | 'resourceUse' | 'doorbells'
>;

/**
 * Stands between processes and their world: gets the ports that a process is about to be given and
 * returns those that it is given in fact. A defect of the engine is simulated in this way, by a
 * collaborator that does not keep its promises, to see that it is found.
 */
export interface Interposer {
  portsOf?(ports: ThreadPorts, process: SimulatedProcess, thread: SimulatedThread): ThreadPorts;
  processesOf?(processes: ProcessTable, process: SimulatedProcess): ProcessTable;
}
