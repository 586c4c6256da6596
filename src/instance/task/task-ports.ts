import { RingReader, RingWriter } from '../../ring/byte-ring.ts';
import type { Doorbell, Doorbells } from '../../ring/doorbell.ts';
import { TaskStatusWriter } from '../task-status.ts';
import type { SharedMemory } from '../thread-channel.ts';
import { LargeSets } from './large-sets.ts';

/** The task's ends of everything that it shares with the gateway. */
export class TaskPorts {
  readonly bell: Doorbell;
  readonly status: TaskStatusWriter;
  readonly dataIn: RingReader;
  readonly largeSets = new LargeSets();
  readonly dataOut: RingWriter;
  readonly metricsOut: RingWriter;

  constructor(memory: SharedMemory, doorbells: Doorbells) {
    const gatewayBell = doorbells(memory.gatewayBell);
    this.bell = doorbells(memory.taskBell);
    this.status = new TaskStatusWriter(memory.status);
    this.dataIn = new RingReader(memory.dataIn, gatewayBell);
    this.dataOut = new RingWriter(memory.dataOut, this.bell, gatewayBell);
    this.metricsOut = new RingWriter(memory.metricsOut, this.bell, gatewayBell);
  }
}
