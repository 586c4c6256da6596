import { create, toBinary } from '@bufbuild/protobuf';
import { assertDefined } from '../../src/base/assert.ts';
import { epoch, type StreamManagerId, type TaskId, taskId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import type { FailReason } from '../../src/model/fail-reason.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import type { PacketConnection } from '../../src/net/packet-connection.ts';
import { AckTraffic } from '../../src/stream-manager/ack-traffic.ts';
import { Congestion } from '../../src/stream-manager/congestion.ts';
import { DataPath } from '../../src/stream-manager/data-path.ts';
import { InstanceSession } from '../../src/stream-manager/instance-session.ts';
import { PeerLink } from '../../src/stream-manager/peer-link.ts';
import { InstanceTraffic, PeerTraffic } from '../../src/stream-manager/traffic-metrics.ts';
import { decodeFailDetail } from '../../src/wire/fail-detail.ts';
import { Packet } from '../../src/wire/frame.ts';
import {
  type AckTuple,
  FailDetailSchema,
  type HeronTupleSet,
  HeronTupleSetSchema,
} from '../../src/wire/generated/tuple_pb.js';
import { TupleStreamMessageSchema } from '../../src/wire/generated/stmgr_pb.js';
import type { MessageType } from '../../src/wire/message-type.ts';
import { ManualClock } from './manual-clock.ts';
import { readTupleSet, valueBytes } from './tuple-sets.ts';

/** A tuple as a bolt got it. */
export interface ArrivedTuple {
  readonly key: bigint;
  readonly roots: readonly { readonly taskid: number; readonly key: bigint }[];
}

export interface PathsOptions {
  readonly timeoutMs?: number | undefined;
  readonly atMostOnce?: boolean;
  readonly dropsWhenBehind?: boolean;
  readonly peerWindowBytes?: number;
}

const WORD = valueBytes('word');

type SendPayload = (payload: Uint8Array, isControl: boolean) => boolean;

/** What a path needs of a connection: somewhere for its payloads to go. */
function connectionInto(send: SendPayload, queuedBytes: () => number = () => 0): PacketConnection {
  const fake = {
    get queuedBytes() {
      return queuedBytes();
    },
    failHandler: (error: unknown) => {
      throw error;
    },
    pauseReading: () => undefined,
    resumeReading: () => undefined,
    send: (type: MessageType<unknown>, value: unknown) =>
      send(Buffer.from(type.encode(value)), true),
    sendPacket: (_header: Uint8Array, payload: Uint8Array, onDone?: (written: boolean) => void) => {
      const isTaken = send(Buffer.from(payload), false);
      if (isTaken) onDone?.(true);
      return isTaken;
    },
  };
  return fake as unknown as PacketConnection;
}

function packetOf(payload: Uint8Array): Packet {
  const packet = new Packet();
  packet.bytes = Buffer.from(payload);
  packet.payloadEnd = payload.length;
  return packet;
}

/** One instance: it sends what the test says and keeps all that it gets. */
export class PathInstance {
  readonly task: TaskId;
  readonly sets: HeronTupleSet[] = [];
  readonly tuples: ArrivedTuple[] = [];
  readonly acked: bigint[] = [];
  readonly failed: { readonly key: bigint; readonly reason: FailReason }[] = [];
  readonly session: InstanceSession;
  /** What its socket has not taken. */
  queuedBytes = 0;
  /** Sets with data that it has not said to be consumed. */
  unconsumedBytes = 0;
  readonly #path: DataPath;
  readonly #component: string;

  constructor(path: DataPath, plan: PhysicalPlan, task: TaskId) {
    const address = plan.instances.find((instance) => instance.task === task);
    const known = assertDefined(address, `task ${task} is in the plan`);
    const component = plan.topology.components.find(({ name }) => name === known.component);
    this.task = task;
    this.#path = path;
    this.#component = known.component;
    const connection = connectionInto(
      (payload) => this.#receive(payload),
      () => this.queuedBytes,
    );
    const isForeign = component?.language !== 'typescript';
    this.session = new InstanceSession(known, connection, isForeign);
  }

  /** Sends tuples of one tree each, or of none: a spout's own root, or a bolt's anchors. */
  emit(
    trees: readonly (readonly { readonly taskid: number; readonly key: bigint }[])[],
    { stream = 'default', destinations = [] as readonly number[] } = {},
  ): void {
    this.sendSet({
      data: {
        stream: { id: stream, componentName: this.#component },
        tuples: trees.map((roots) => ({
          key: 0n,
          roots: [...roots],
          values: [WORD],
          destTaskIds: [...destinations],
        })),
      },
    });
  }

  /** A spout's tuple: the tree is its own. */
  emitRoot(key: bigint, options: { readonly stream?: string } = {}): void {
    this.emit([[{ taskid: this.task, key }]], options);
  }

  ack(...tuples: readonly ArrivedTuple[]): void {
    this.sendSet({
      control: { acks: tuples.map(({ key, roots }) => ({ roots: [...roots], ackedtuple: key })) },
    });
  }

  fail(tuple: ArrivedTuple, detail?: { readonly kind: number; readonly message?: string }): void {
    const fail = { roots: [...tuple.roots], ackedtuple: tuple.key, ...(detail && { detail }) };
    this.sendSet({ control: { fails: [fail] } });
  }

  failAll(tuples: readonly ArrivedTuple[]): void {
    const fails = tuples.map(({ key, roots }) => ({ roots: [...roots], ackedtuple: key }));
    this.sendSet({ control: { fails } });
  }

  consume(): void {
    this.sendSet({ consumedBytes: BigInt(this.unconsumedBytes) });
    this.unconsumedBytes = 0;
  }

  sendSet(fields: Parameters<typeof create<typeof HeronTupleSetSchema>>[1]): void {
    const message = create(HeronTupleSetSchema, { srcTaskId: this.task, ...fields });
    this.sendBytes(toBinary(HeronTupleSetSchema, message));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#path.handleInstanceSet(this.session, packetOf(bytes));
  }

  /** Acks and fails by key, each once; the order is of no concern. */
  get settledKeys(): bigint[] {
    return [...this.acked, ...this.failed.map(({ key }) => key)];
  }

  #receive(payload: Uint8Array): boolean {
    const set = readTupleSet(payload);
    this.sets.push(set);
    const tuples = set.data?.tuples ?? [];
    if (tuples.length > 0) this.unconsumedBytes += payload.length;
    this.tuples.push(...tuples.map(({ key, roots }) => ({ key, roots })));
    for (const ack of set.control?.acks ?? []) this.acked.push(this.#ownKey(ack));
    for (const fail of set.control?.fails ?? []) {
      const detail = fail.detail && toBinary(FailDetailSchema, fail.detail);
      const reason = decodeFailDetail(detail ?? new Uint8Array(0), 0, detail?.length ?? 0);
      this.failed.push({ key: this.#ownKey(fail), reason });
    }
    return true;
  }

  #ownKey({ roots, ackedtuple }: AckTuple): bigint {
    const [root, ...more] = roots;
    if (root?.taskid !== this.task || more.length > 0 || ackedtuple !== 0n) {
      throw new Error('a reply names one tree of the spout, and no tuple');
    }
    return root.key;
  }
}

/** One stream manager's data path, with what it counts. */
interface PathOfContainer {
  readonly path: DataPath;
  readonly metrics: MetricsRegistry;
}

/**
 * The data paths of all stream managers of a plan on one clock, with everything between them in the
 * test's hand: what is sent over a link waits until `deliver`.
 */
export class AckedDataPaths {
  readonly clock = new ManualClock();
  readonly #plan: PhysicalPlan;
  readonly #paths = new Map<StreamManagerId, PathOfContainer>();
  readonly #instances = new Map<TaskId, PathInstance>();
  /** By `from>to`: packets under way, and the receiver's end of the link. */
  readonly #wires = new Map<string, { link: PeerLink; packets: Uint8Array[] }>();
  readonly #options: PathsOptions;

  constructor(plan: PhysicalPlan, options: PathsOptions = {}) {
    this.#plan = plan;
    this.#options = { timeoutMs: 30_000, ...options };
    for (const { id } of plan.streamManagers) this.#createPath(id);
    for (const from of plan.streamManagers) {
      for (const to of plan.streamManagers) {
        if (from.id < to.id) this.link(from.id, to.id);
      }
    }
    for (const { task } of plan.instances) this.connect(task);
  }

  pathOf(container: number): DataPath {
    return this.#pathOf(`stmgr-${container}` as StreamManagerId).path;
  }

  count(container: number, name: string): number {
    return this.#pathOf(`stmgr-${container}` as StreamManagerId).metrics.counter(name).value;
  }

  instance(task: number): PathInstance {
    return assertDefined(this.#instances.get(taskId(task)), `task ${task} is connected`);
  }

  liveTrees(): number {
    return this.#plan.instances.reduce(
      (sum, { task, streamManager }) => sum + this.#pathOf(streamManager).path.liveTreesOf(task),
      0,
    );
  }

  /** Connects a task's instance, anew when there was one. */
  connect(task: TaskId): PathInstance {
    const instance = this.register(task);
    this.#pathOfTask(task).path.instanceOpened(instance.session);
    return instance;
  }

  /** As `connect`, while the way for tuples is not there yet: not everyone is linked. */
  register(task: TaskId): PathInstance {
    const { path } = this.#pathOfTask(task);
    const instance = new PathInstance(path, this.#plan, task);
    this.#instances.set(task, instance);
    path.instanceRegistered(instance.session);
    return instance;
  }

  /** The process of a task dies. */
  kill(task: number): void {
    const { session } = this.instance(task);
    this.#pathOfTask(taskId(task)).path.instanceLost(session);
  }

  /** Both ends of a new link come up, the second one when the test says so. */
  link(from: StreamManagerId, to: StreamManagerId, between: () => void = () => undefined): void {
    this.#linkUp(from, to);
    between();
    this.#linkUp(to, from);
  }

  /** The link breaks: what is under way on it is gone, and both ends hear of it. */
  cut(from: StreamManagerId, to: StreamManagerId): void {
    for (const [here, there] of [
      [from, to],
      [to, from],
    ] as const) {
      const wire = assertDefined(this.#wires.get(`${there}>${here}`), 'there is a link');
      this.#wires.delete(`${there}>${here}`);
      this.#pathOf(here).path.linkDown(wire.link);
    }
  }

  /** Makes a task be behind, as its outbox in one container sees it. */
  setBehind(container: number, task: number): void {
    const outbox = this.pathOf(container).outboxes.get(taskId(task));
    const queue = assertDefined(outbox, `task ${task} has an outbox`);
    const marks = { highBytes: Infinity, lowBytes: -1, ageMs: Infinity };
    const congestion = new Congestion(queue, {
      marks,
      workingMax: 0,
      awaitsTuples: () => true,
      now: () => 0,
      onChange: () => undefined,
    });
    congestion.isBehind = true;
    queue.watch(congestion);
  }

  /** Puts a set for a task on a link, as a stream manager of Heron might have written it. */
  inject(
    from: StreamManagerId,
    to: StreamManagerId,
    task: number,
    fields: Parameters<typeof create<typeof HeronTupleSetSchema>>[1],
  ): void {
    const set = toBinary(HeronTupleSetSchema, create(HeronTupleSetSchema, fields));
    const srcTaskId = fields?.srcTaskId ?? 0;
    const message = { taskId: task, set, srcTaskId, numTuples: 0 };
    const wire = assertDefined(this.#wires.get(`${from}>${to}`), 'there is a link');
    const schema = TupleStreamMessageSchema;
    wire.packets.push(Buffer.from(toBinary(schema, create(schema, message))));
  }

  /** Ends the turn and delivers what is under way, until nothing moves any more. */
  settle(): void {
    this.clock.runSoon();
    while (this.deliver()) this.clock.runSoon();
  }

  /** Delivers what is under way now, on one link or on all. Returns whether there was anything. */
  deliver(only?: string): boolean {
    let isAny = false;
    for (const [name, wire] of this.#wires) {
      if (only !== undefined && only !== name) continue;
      const { packets } = wire;
      wire.packets = [];
      const to = name.slice(name.indexOf('>') + 1) as StreamManagerId;
      for (const packet of packets) {
        this.#pathOf(to).path.handlePeerMessage(wire.link, packetOf(packet));
        isAny = true;
      }
    }
    return isAny;
  }

  #linkUp(here: StreamManagerId, there: StreamManagerId): void {
    const { path, metrics } = this.#pathOf(here);
    const connection = connectionInto((payload, isControl) => {
      const wire = this.#wires.get(`${here}>${there}`);
      if (wire === undefined) return false;
      if (isControl) wire.packets.unshift(payload);
      else wire.packets.push(payload);
      return true;
    });
    const link = new PeerLink(there, connection, epoch(1), new PeerTraffic(metrics, there));
    // What this end sends is waited for by the other end, which may come up later.
    const earlier = this.#wires.get(`${there}>${here}`);
    this.#wires.set(`${there}>${here}`, { link, packets: earlier?.packets ?? [] });
    if (!this.#wires.has(`${here}>${there}`)) {
      this.#wires.set(`${here}>${there}`, { link, packets: [] });
    }
    path.linkUp(link);
  }

  #createPath(id: StreamManagerId): void {
    const metrics = new MetricsRegistry();
    const { timeoutMs, atMostOnce, dropsWhenBehind, peerWindowBytes } = this.#options;
    const path = new DataPath({
      localTasks: this.#plan.instances
        .filter(({ streamManager }) => streamManager === id)
        .map(({ task }) => task),
      peerWindowBytes: peerWindowBytes ?? 1 << 20,
      instanceWindowBytes: 1 << 20,
      keyGroups: 64,
      clock: this.clock,
      random: createSeededRandom(id.charCodeAt(id.length - 1)),
      logger: silentLogger,
      traffic: new InstanceTraffic(metrics),
      atLeastOnce:
        atMostOnce === true ? undefined : { timeoutMs, traffic: new AckTraffic(metrics) },
      dropsWhenBehind: dropsWhenBehind === true,
      onEnded: () => undefined,
    });
    path.start(new PlanIndex(this.#plan));
    this.#paths.set(id, { path, metrics });
  }

  #pathOf(id: StreamManagerId): PathOfContainer {
    return assertDefined(this.#paths.get(id), `${id} is in the plan`);
  }

  #pathOfTask(task: TaskId): PathOfContainer {
    const address = this.#plan.instances.find((instance) => instance.task === task);
    return this.#pathOf(assertDefined(address, `task ${task} is in the plan`).streamManager);
  }
}
