import assert from 'node:assert/strict';
import type { AnyComponent } from '../../src/api/component-runtime.ts';
import type { DeclaredCustomGrouping } from '../../src/api/custom-grouping.ts';
import type { TaskHook } from '../../src/api/topology-context.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import type { Files } from '../../src/base/files.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { systemFiles } from '../../src/base/system-files.ts';
import { componentName } from '../../src/base/ids.ts';
import { GatewayPorts } from '../../src/instance/gateway/gateway-ports.ts';
import {
  type InstanceIdentity,
  parseInstanceIdentity,
} from '../../src/instance/instance-identity.ts';
import { BlockingRoomWait, type RoomWait } from '../../src/instance/task/room-wait.ts';
import { RunningComponent } from '../../src/instance/task/running-component.ts';
import { TaskPorts } from '../../src/instance/task/task-ports.ts';
import type { ToGateway } from '../../src/instance/thread-channel.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { Settings } from '../../src/model/settings.ts';
import { atomicsDoorbells } from '../../src/ring/atomics-doorbell.ts';
import type { Doorbells } from '../../src/ring/doorbell.ts';
import { DATA, NO_ROOM, type RingReader, type RingWriter } from '../../src/ring/byte-ring.ts';
import { decodeValue } from '../../src/wire/value-reader.ts';
import { ManualClock } from './manual-clock.ts';
import { aPlanOf } from './planned-tasks.ts';
import { settled } from './settled.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from './topologies.ts';
import { readTupleSet, type TestSet, tupleSetBytes } from './tuple-sets.ts';

/**
 * source (tasks 1 and 2) → middle (task 3) → sink (task 4), which groups by word; nobody reads
 * middle's `unread`.
 */
export const linePlan = aPlanOf(
  aTopology([
    aSpout('source', { parallelism: 2 }),
    aBolt('middle', ['source'], { outputs: [anOutput(['word']), anOutput(['word'], 'unread')] }),
    aBolt('sink', [anInput('middle', { kind: 'fields', fields: ['word'] })], { outputs: [] }),
  ]),
  ['source', 1],
  ['source', 1],
  ['middle', 1],
  ['sink', 1],
);

/** As in production; a test that fills the ring has to read it, or it hangs. */
export function blockingRoomWait({ dataOut, status }: TaskPorts): RoomWait {
  return new BlockingRoomWait(dataOut, status);
}

/** A call, what it flushes soon, and what the runner does then. */
const TURN_ROUNDS = 3;

/** The identity of one task of `linePlan`. */
export function anIdentity(component: string, task: number): InstanceIdentity {
  return parseInstanceIdentity(argumentsOf(component, task));
}

/** The command line of one task of `linePlan`. */
export function argumentsOf(component: string, task: number): readonly string[] {
  const flags = {
    'topology-name': 'words',
    'topology-id': 'words-1',
    host: '127.0.0.1',
    'container-id': 1,
    'definition-file': 'words.defn',
    'log-directory': '.',
    'instance-id': `container_1_${component}_${task}`,
    'component-name': component,
    'task-id': task,
    'component-index': 0,
    'stream-manager-id': 'stmgr-1',
    'stream-manager-port': 8_001,
    'metrics-manager-port': 8_002,
  };
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${String(value)}`);
}

/** Writes one frame; fails the test when there is no room. */
export function writeFrame(ring: RingWriter, bytes: Uint8Array): void {
  const at = ring.reserve(bytes.length);
  assert.notEqual(at, NO_ROOM);
  ring.bytes.set(bytes, at);
  ring.commit(at, at + bytes.length);
}

/** Reads and releases all frames, as text: `default: a b` for a set, `marker 2` for a marker. */
export function takeFrames(ring: RingReader): string[] {
  const frames: string[] = [];
  while (ring.next()) {
    const { kind, bytes, start, end } = ring;
    frames.push(kind === DATA ? setText(bytes.subarray(start, end)) : `marker ${kind}`);
    ring.release();
  }
  return frames;
}

/** The first value of every tuple behind the name of the stream. */
export function setText(bytes: Uint8Array): string {
  const { data } = readTupleSet(bytes);
  const words = data?.tuples.map(({ values: [value = new Uint8Array(0)] }) =>
    String(decodeValue(value, 0, value.length)),
  );
  return `${data?.stream?.id}: ${words?.join(' ')}`;
}

export interface TaskInTestOptions {
  readonly component?: 'source' | 'middle';
  readonly config?: Readonly<Record<string, string>>;
  readonly roomWait?: (ports: TaskPorts) => RoomWait;
  /** In place of `linePlan`; the component keeps its task. */
  readonly plan?: PhysicalPlan;
  readonly customGroupings?: readonly DeclaredCustomGrouping[];
  readonly taskHooks?: readonly (() => TaskHook)[];
  readonly logger?: Logger;
  readonly doorbells?: Doorbells;
  readonly files?: Files;
  readonly workingDirectory?: string;
}

/**
 * A task without its gateway: a component runs as it does in an instance, over real rings whose
 * other ends the test holds, on the test's time.
 */
export class TaskInTest {
  readonly clock = new ManualClock();
  readonly gateway: GatewayPorts;
  readonly ports: TaskPorts;
  readonly running: RunningComponent;
  /** What the gateway was told by message. */
  readonly sent: ToGateway[] = [];

  constructor(
    component: AnyComponent,
    {
      component: name = 'middle',
      config = {},
      roomWait = blockingRoomWait,
      plan = linePlan,
      customGroupings = [],
      taskHooks = [],
      logger = silentLogger,
      doorbells = atomicsDoorbells,
      files = systemFiles,
      workingDirectory = '/topology',
    }: TaskInTestOptions = {},
  ) {
    const topology = { ...plan.topology, config: new Map(Object.entries(config)) };
    this.gateway = new GatewayPorts(new Settings(topology.config), doorbells);
    this.ports = new TaskPorts(this.gateway.memory, doorbells);
    this.running = new RunningComponent({
      identity: anIdentity(name, name === 'source' ? 1 : 3),
      clock: this.clock,
      random: createSeededRandom(1),
      files,
      logger,
      send: (message) => this.sent.push(message),
      built: {
        topology,
        factories: new Map([[componentName(name), () => component]]),
        customGroupings,
        taskHooks,
      },
      ports: this.ports,
      roomWait: roomWait(this.ports),
      workingDirectory,
      plan: new PlanIndex({ ...plan, topology }),
    });
  }

  /** A set from `source`, task 1 unless told otherwise. */
  feed(set: Partial<TestSet>): void {
    writeFrame(this.gateway.dataIn, tupleSetBytes({ task: 1, component: 'source', ...set }));
  }

  /** Both upstream tasks of `middle` say that they have ended. */
  feedEnds(): void {
    this.feed({ task: 1, endOfInput: true });
    this.feed({ task: 2, endOfInput: true });
  }

  /** What the component has emitted since the last call, by frame. */
  takeFrames(): string[] {
    return takeFrames(this.gateway.dataOut);
  }

  /** The messages of the errors that the component survived. */
  get exceptions(): string[] {
    return this.sent.flatMap((one) => (one.kind === 'exception' ? [one.error.message] : []));
  }

  async start(active = true): Promise<'ended' | 'stopped'> {
    await this.running.open();
    return this.running.run(active);
  }

  /** Lets everything run that needs no time, until it is done. */
  async drive<Result>(done: Promise<Result>): Promise<Result> {
    const life = { isOver: false };
    const onOver = (): void => {
      life.isOver = true;
    };
    done.then(onOver, onOver);
    while (!life.isOver) await this.turn();
    return done;
  }

  /** Some turns of the event loop, without time. */
  async turn(): Promise<void> {
    for (let round = 0; round < TURN_ROUNDS; round += 1) {
      this.clock.runSoon();
      await settled();
    }
  }
}
