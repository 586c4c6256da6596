import type { BuiltTopology } from '../../api/topology.ts';
import type { LoadOptions } from '../../package/load-module.ts';
import type { Command } from '../../supervision/process-table.ts';
import type { SimulatedDoorbells } from '../kernel/doorbells.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { SimulatedDisk } from '../kernel/simulated-disk.ts';
import type { SimulatedNetwork } from '../kernel/simulated-network.ts';
import type { Interposer } from './interposer.ts';
import type { LogLine } from './simulated-log.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface StartOptions {
  /** The one with which the new process ends. */
  readonly parent?: SimulatedProcess;
  /** It does its work. */
  readonly onReady?: () => void;
  readonly onOutput?: (text: string) => void;
}

/** What the ports of a simulated process need of the machine that it runs on. */
export interface HostMachine {
  readonly kernel: Kernel;
  readonly disk: SimulatedDisk;
  readonly network: SimulatedNetwork;
  readonly doorbells: SimulatedDoorbells;
  readonly interposer: Interposer;
  readonly bootId: string;
  /** Those that live, in the order of their start. */
  readonly processes: readonly SimulatedProcess[];
  find(pid: number): SimulatedProcess | undefined;
  /** Starts one of the engine's processes; its code runs a little later. */
  start(command: Command, options?: StartOptions): SimulatedProcess;
  /** Remembers whose output an output file holds. */
  noteOutput(outputFile: string, process: SimulatedProcess): void;
  lastLinesOf(outputFile: string): readonly string[];
  loadTopology(process: SimulatedProcess, options: LoadOptions): Promise<BuiltTopology>;
  handleLogLine(process: SimulatedProcess, line: LogLine): void;
}
