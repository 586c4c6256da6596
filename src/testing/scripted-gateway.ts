import { assert } from '../base/assert.ts';
import { componentName, streamName, type TaskId } from '../base/ids.ts';
import { GatewayPorts } from '../instance/gateway/gateway-ports.ts';
import { LARGE_SET_MARKER } from '../instance/ring-markers.ts';
import type { SharedMemory, ToTask } from '../instance/thread-channel.ts';
import type { Settings } from '../model/settings.ts';
import { NO_ROOM } from '../ring/byte-ring.ts';
import type { Doorbells } from '../ring/doorbell.ts';
import type { SimulatedThread } from '../simulation/kernel/simulated-thread.ts';
import { StreamHeaders } from '../wire/stream-header.ts';
import { endOfInputSet, TupleSetWriter, tupleSetOverhead } from '../wire/tuple-set-writer.ts';
import { wireBytes } from './wire-values.ts';

/** What every tuple takes besides its values, rounded up. */
const TUPLE_OVERHEAD_BYTES = 64;
const VALUE_OVERHEAD_BYTES = 16;

/** The task and the stream that tuples come from. */
export interface TupleSource {
  readonly component: string;
  readonly stream: string;
  readonly task: TaskId;
}

/**
 * The gateway's side of an instance that has no stream manager: writes what the test feeds into the
 * ring that the task reads, and takes away what the task emits.
 *
 * G1. What is fed keeps its order, also when the ring is full and it has to wait.
 */
export class ScriptedGateway {
  readonly #thread: SimulatedThread;
  readonly #ports: GatewayPorts;
  readonly #tell: (message: ToTask) => void;
  readonly #headers = new StreamHeaders();
  #written: Promise<void> = Promise.resolve();

  constructor(
    thread: SimulatedThread,
    options: {
      readonly settings: Settings;
      readonly doorbells: Doorbells;
      /** Sends a message to the task's thread. */
      readonly tell: (message: ToTask) => void;
    },
  ) {
    this.#thread = thread;
    this.#ports = new GatewayPorts(options.settings, options.doorbells);
    this.#tell = options.tell;
    thread.post(0, () => void this.#takeAway());
  }

  get memory(): SharedMemory {
    return this.#ports.memory;
  }

  /** @throws EngineError VALUE_NOT_SERIALIZABLE; nothing is fed then. */
  feed(source: TupleSource, values: readonly unknown[]): void {
    this.#feedSet(this.#encode(source, values));
  }

  feedEnd(task: TaskId): void {
    this.#feedSet(endOfInputSet(task));
  }

  #feedSet(set: Uint8Array): void {
    this.#thread.post(0, () => {
      this.#written = this.#written.then(() => this.#write(set));
    });
  }

  async #write(set: Uint8Array): Promise<void> {
    const { dataIn } = this.#ports;
    const isLarge = set.length > dataIn.payloadBytesMax;
    const bytes = isLarge ? 0 : set.length;
    for (;;) {
      const at = dataIn.reserve(bytes);
      if (at === NO_ROOM) {
        if (!(await dataIn.waitForRoom(bytes))) return;
      } else if (isLarge) {
        this.#tell({ kind: 'large-set', bytes: set });
        assert(dataIn.writeMarker(LARGE_SET_MARKER), 'there is room for a marker');
        return;
      } else {
        dataIn.bytes.set(set, at);
        dataIn.commit(at, at + set.length);
        return;
      }
    }
  }

  async #takeAway(): Promise<never> {
    const { bell, dataOut, metricsOut } = this.#ports;
    for (;;) {
      const seen = bell.sequence();
      while (dataOut.next()) dataOut.release();
      while (metricsOut.next()) metricsOut.release();
      await bell.wait(seen);
    }
  }

  #encode({ component, stream, task }: TupleSource, values: readonly unknown[]): Uint8Array {
    const header = this.#headers.of(componentName(component), streamName(stream));
    const bytes = values.reduce<number>(
      (sum, value) => sum + wireBytes(value).length + VALUE_OVERHEAD_BYTES,
      tupleSetOverhead(header) + TUPLE_OVERHEAD_BYTES,
    );
    const region = new Uint8Array(bytes);
    const writer = new TupleSetWriter();
    writer.begin(region, 0, bytes, header, task);
    assert(writer.addTuple(values), 'the region was made for this tuple');
    writer.finish();
    return region.slice(writer.start, writer.end);
  }
}
