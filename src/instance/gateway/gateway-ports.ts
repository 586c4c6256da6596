import { closeRingReader, createRingMemory, RingReader, RingWriter } from '../../ring/byte-ring.ts';
import type { Doorbell, Doorbells } from '../../ring/doorbell.ts';
import type { Settings } from '../../model/settings.ts';
import { createTaskStatusMemory, TaskStatusReader } from '../task-status.ts';
import type { SharedMemory } from '../thread-channel.ts';

/**
 * A portion of metrics has up to 32 KiB (metrics-frame.ts), and a frame takes at most half a ring.
 */
const METRICS_RING_BYTES = 128 * 1024;

/** The gateway's ends of everything that it shares with the task; it also makes the memory. */
export class GatewayPorts {
  readonly memory: SharedMemory;
  readonly bell: Doorbell;
  readonly status: TaskStatusReader;
  readonly dataIn: RingWriter;
  readonly dataOut: RingReader;
  readonly metricsOut: RingReader;
  readonly #taskBell: Doorbell;

  constructor(settings: Settings, doorbells: Doorbells) {
    const ringBytes = settings.get('heron.instance.queue.bytes');
    const taskBell = doorbells();
    this.#taskBell = taskBell;
    this.bell = doorbells();
    this.memory = {
      dataIn: createRingMemory(ringBytes),
      dataOut: createRingMemory(ringBytes),
      metricsOut: createRingMemory(METRICS_RING_BYTES),
      taskBell: taskBell.memory,
      gatewayBell: this.bell.memory,
      status: createTaskStatusMemory(),
    };
    this.status = new TaskStatusReader(this.memory.status);
    this.dataIn = new RingWriter(this.memory.dataIn, this.bell, taskBell);
    this.dataOut = new RingReader(this.memory.dataOut, taskBell);
    this.metricsOut = new RingReader(this.memory.metricsOut, taskBell);
  }

  /** There is news for the task that it finds in its status. */
  ringTask(): void {
    this.#taskBell.ring();
  }

  /** Wakes a task that waits inside `emit`: nothing will drain its ring any more. */
  closeOutput(): void {
    closeRingReader(this.memory.dataOut, this.#taskBell);
  }
}
