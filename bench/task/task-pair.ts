import type { BuiltTopology } from '../../src/api/topology.ts';
import { systemClock } from '../../src/base/clock.ts';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerId,
  taskId,
  topologyId,
} from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { systemFiles } from '../../src/base/system-files.ts';
import { GatewayPorts } from '../../src/instance/gateway/gateway-ports.ts';
import { BlockingRoomWait } from '../../src/instance/task/room-wait.ts';
import { RunningComponent } from '../../src/instance/task/running-component.ts';
import { TaskPorts } from '../../src/instance/task/task-ports.ts';
import type { SharedMemory } from '../../src/instance/thread-channel.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { Settings } from '../../src/model/settings.ts';
import { atomicsDoorbells } from '../../src/ring/atomics-doorbell.ts';
import { wordList } from '../word-count/words.ts';
import { type Count, jobOf, type Transport, Words } from './job.ts';

const STREAM_MANAGER = streamManagerId('stmgr-1');
/** Rings that hold all that is emitted in a round, and its roots. */
const SETTINGS = new Settings(new Map([['heron.instance.queue.bytes', String(4 * 1024 * 1024)]]));
/** Shuffles the words without a random number for each: coprime to their number. */
const STRIDE = 7_919;

export interface PairOptions {
  readonly distinctWords: number;
  readonly hasAcks: boolean;
  readonly hasHistograms: boolean;
}

/**
 * A spout's task whose output ring is the input ring of a bolt's task. With acks, what the bolt has
 * acked is handed to the spout as it is: the acks of a bolt look like what a stream manager says.
 */
export class TaskPair {
  readonly #words = new Words();
  readonly #list: readonly string[];
  readonly #spout: RunningComponent;
  readonly #bolt: RunningComponent;
  readonly #input: TaskPorts;
  readonly #ofSpout: GatewayPorts;
  readonly #ofBolt: GatewayPorts;
  readonly #hasAcks: boolean;
  #at = 0;
  #messageId = 0;

  static async open(bolt: Transport | Count, options: PairOptions): Promise<TaskPair> {
    const pair = new TaskPair(bolt, wordList(options.distinctWords), options);
    await pair.#spout.open();
    await pair.#bolt.open();
    void pair.#bolt.run(true);
    if (options.hasAcks) void pair.#spout.run(true);
    return pair;
  }

  private constructor(bolt: Transport | Count, list: readonly string[], options: PairOptions) {
    const { hasAcks } = options;
    const built = jobOf(this.#words, bolt, options);
    this.#ofSpout = new GatewayPorts(SETTINGS, atomicsDoorbells);
    this.#ofBolt = new GatewayPorts(SETTINGS, atomicsDoorbells);
    const { memory } = this.#ofSpout;
    const own = this.#ofBolt.memory;
    this.#hasAcks = hasAcks;
    this.#list = list;
    this.#input = new TaskPorts({ ...own, dataIn: memory.dataOut }, atomicsDoorbells);
    this.#spout = aTask(built, 'words', 1, new TaskPorts(memoryTo(own, memory), atomicsDoorbells));
    this.#bolt = aTask(built, 'bolt', 2, this.#input);
  }

  emit(tuples: number): void {
    const list = this.#list;
    for (let index = 0; index < tuples; index += 1) {
      this.#at = (this.#at + STRIDE) % list.length;
      const word = list[this.#at] as string;
      if (this.#hasAcks) this.#words.emit({ word }, (this.#messageId += 1));
      else this.#words.emit({ word });
    }
  }

  /** Resolves when the bolt has executed all that was emitted. */
  async execute(): Promise<void> {
    do await turn();
    while (this.#input.dataIn.hasNext());
  }

  /** Hands the acks of the bolt to the spout; resolves when it has heard of all of them. */
  async settle(): Promise<void> {
    while (this.#words.acked < this.#messageId) {
      this.#handOver();
      await turn();
    }
  }

  #handOver(): void {
    const from = this.#ofBolt.dataOut;
    const to = this.#ofSpout.dataIn;
    while (from.next()) {
      const { bytes, start, end } = from;
      const at = to.reserve(end - start);
      bytes.copy(to.bytes, at, start, end);
      to.commit(at, at + end - start);
      from.release();
    }
  }

  async close(): Promise<void> {
    for (const running of [this.#bolt, this.#spout]) {
      running.stop();
      await running.close();
    }
  }
}

/** The spout rings the bolt's bell where it would ring its gateway's. */
function memoryTo(reader: SharedMemory, own: SharedMemory): SharedMemory {
  return { ...own, gatewayBell: reader.taskBell };
}

function aTask(built: BuiltTopology, name: string, task: number, ports: TaskPorts) {
  const instance = (component: string, number: number) => ({
    id: instanceIdOf(containerId(1), componentName(component), taskId(number)),
    streamManager: STREAM_MANAGER,
    task: taskId(number),
    componentIndex: 0,
    component: componentName(component),
  });
  return new RunningComponent({
    identity: {
      topologyName: built.topology.name,
      topologyId: topologyId('task-bench-1'),
      instance: instance(name, task).id,
      component: componentName(name),
      task: taskId(task),
      componentIndex: 0,
      container: containerId(1),
      host: '127.0.0.1',
      streamManager: STREAM_MANAGER,
      streamManagerPort: 1,
      metricsManagerPort: 1,
      definitionFile: '',
      logDirectory: '',
    },
    clock: systemClock,
    random: createSystemRandom(),
    files: systemFiles,
    logger: silentLogger,
    send() {},
    built,
    ports,
    workingDirectory: '/',
    roomWait: new BlockingRoomWait(ports.dataOut, ports.status),
    plan: new PlanIndex({
      epoch: epoch(1),
      topology: { ...built.topology, id: topologyId('task-bench-1'), state: 'RUNNING' },
      streamManagers: [],
      instances: [instance('words', 1), instance('bolt', 2)],
    }),
  });
}

/** One turn of the event loop, in which the bolt's task goes on. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.soon(resolve);
  });
}
