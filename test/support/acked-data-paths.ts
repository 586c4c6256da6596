import { create, toBinary } from '@bufbuild/protobuf';
import { assertDefined } from '../../src/base/assert.ts';
import { epoch, type StreamManagerId, type TaskId, taskId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { AckTraffic } from '../../src/stream-manager/ack-traffic.ts';
import { Congestion } from '../../src/stream-manager/congestion.ts';
import { DataPath } from '../../src/stream-manager/data-path.ts';
import { PeerLink } from '../../src/stream-manager/peer-link.ts';
import { InstanceTraffic, PeerTraffic } from '../../src/stream-manager/traffic-metrics.ts';
import { HeronTupleSetSchema } from '../../src/wire/generated/tuple_pb.js';
import { TupleStreamMessageSchema } from '../../src/wire/generated/stmgr_pb.js';
import { ManualClock } from './manual-clock.ts';
import { connectionInto, packetOf, PathInstance } from './path-instance.ts';

export type { ArrivedTuple, PathInstance } from './path-instance.ts';

export interface PathsOptions {
  readonly timeoutMs?: number | undefined;
  readonly atMostOnce?: boolean;
  readonly dropsWhenBehind?: boolean;
  readonly peerWindowBytes?: number;
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
  /** Tasks that have retired, in order. */
  readonly retired: TaskId[] = [];
  #plan: PhysicalPlan;
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

  /** A newer plan is in force in all containers, or in those that are named. */
  update(plan: PhysicalPlan, ...containers: readonly number[]): void {
    this.#plan = plan;
    const index = new PlanIndex(plan);
    for (const [id, { path }] of this.#paths) {
      if (containers.length === 0 || containers.includes(Number(id.slice('stmgr-'.length)))) {
        path.update(index);
      }
    }
    for (const { id } of plan.streamManagers) if (!this.#paths.has(id)) this.#createPath(id);
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
      streamManager: id,
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
      onRetired: (task) => this.retired.push(task),
    });
    path.update(new PlanIndex(this.#plan));
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
