import { machineBootId } from './process-identity.ts';

/**
 * A moment by a clock that all processes of one machine share and that nobody can set: it tells
 * two of them how much time lies between two moments, whatever has been done to the wall clock.
 */
export interface MachineTime {
  /** Names the run of the clock. Moments with different names say nothing of each other. */
  readonly bootId: string;
  /** Milliseconds since the machine was started. */
  readonly ms: number;
}

const NS_PER_MS = 1e6;

/** Of the machine that we are on. Where it has no boot id, each process has a name of its own. */
export function systemMachineTime(): MachineTime {
  const lone = `process ${process.pid} of ${performance.timeOrigin}`;
  const bootId = machineBootId === '' ? lone : machineBootId;
  return { bootId, ms: Number(process.hrtime.bigint()) / NS_PER_MS };
}
