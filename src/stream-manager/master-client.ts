import type { Clock, Timer } from '../base/clock.ts';
import { assertDefined } from '../base/assert.ts';
import { environmentError, hasCode, type EngineError } from '../base/errors.ts';
import { epoch, type Epoch, type TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';
import { ReconnectingClient } from '../net/client.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Address, Network } from '../net/network.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import {
  NewPhysicalPlan,
  RegisterStreamManager,
  StatusCode,
  StreamManagerHeartbeat,
  TopologyMasterLocation,
} from '../wire/messages.ts';
import {
  instanceToMessage,
  type PhysicalPlanMessage,
  streamManagerToMessage,
} from '../wire/physical-plan.ts';
import type { Membership } from './membership.ts';
import { TaskNews } from './task-news.ts';

/** Longer than a busy master needs for an answer; the connection is then made anew. */
const ANSWER_TIMEOUT_MS = 5_000;

export interface MasterClientOptions {
  readonly own: Membership;
  readonly address: StreamManagerAddress;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly packetBytesMax: number;
  readonly reconnectIntervalMs: number;
  readonly heartbeatIntervalMs: number;
  /** How long the master may stay unknown after the start. */
  readonly locationLimitMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: {
    onPlan(plan: PhysicalPlanMessage): void;
    /** This process cannot go on. */
    onFatal(error: EngineError): void;
  };
}

/**
 * The conversation with the topology master. Its location comes from the state manager. Once all
 * instances of the container have registered, the stream manager connects, registers itself and
 * them, and sends heartbeats; the master answers, and sends each new plan. When an update gives the
 * container other instances it registers again on the same connection. A lost master is dialled
 * again for ever: tuples flow without it.
 *
 * M1. The highest epoch of a master that was ever seen, whatever the message, is the one that
 *     counts: locations, answers and plans of an older one are refused.
 * M2. One heartbeat at a time. It says all that is known of the local tasks (task-news.ts), and by
 *     which plan this stream manager works. News is told by a heartbeat at once, or by the next one
 *     when there is an answer to wait for.
 * M3. A heartbeat names every local task whose instance was lost before the task had ended: the
 *     master knows of a loss before it hears of that task's end, whatever becomes of the executor's
 *     report.
 * M4. One registration at a time, and the newest instances win. When they are refused on a
 *     connection that is registered, as by a master that does not know of the update yet, they are
 *     said again a little later; that connection goes on.
 */
export class MasterClient {
  readonly #options: MasterClientOptions;
  readonly #client: ReconnectingClient;
  readonly #news = new TaskNews();
  #instances: readonly InstanceAddress[] | undefined;
  /** What the master has accepted on the connection that there is. */
  #registered: readonly InstanceAddress[] | undefined;
  /** Where a registration is under way. */
  #registering: PacketConnection | undefined;
  #nextRegistration: Timer | undefined;
  #location: Address | undefined;
  #masterEpoch: Epoch = epoch(0);
  #watch: Watch | undefined;
  #locationLimit: Timer | undefined;
  #nextHeartbeat: Timer | undefined;
  #isAwaitingAnswer = false;

  constructor(options: MasterClientOptions) {
    const { network, packetBytesMax, clock, random, logger, reconnectIntervalMs } = options;
    this.#options = options;
    this.#client = new ReconnectingClient({
      peer: 'topology master',
      network,
      packetBytesMax,
      clock,
      random,
      logger,
      backoffMinMs: reconnectIntervalMs,
      backoffMaxMs: reconnectIntervalMs,
      handlers: new MessageHandlers().on(NewPhysicalPlan, ({ newPplan, masterEpoch }) =>
        this.#handlePlan(newPplan, masterEpoch),
      ),
      onConnected: (connection) => this.#begin(connection),
      onDisconnected: () => this.#end(),
    });
  }

  start(): void {
    const { stateManager, own, clock, locationLimitMs, events } = this.#options;
    this.#locationLimit = clock.after(locationLimitMs, () => {
      const why = `the topology master has not been found within ${locationLimitMs} ms`;
      events.onFatal(environmentError('START_TIMEOUT', why));
    });
    this.#watch = stateManager.watch(paths.topologyMaster(own.topologyName), (bytes) => {
      if (bytes !== undefined) this.#handleLocation(bytes);
    });
  }

  /** All expected instances of the container have registered: the master may know. */
  register(instances: readonly InstanceAddress[]): void {
    this.#instances = instances;
    this.#client.retarget(this.#location);
    const { connection } = this.#client;
    if (connection !== undefined) void this.#registerAgain(connection);
  }

  taskEnded(task: TaskId): void {
    this.#news.ended(task);
    this.#tellSoon();
  }

  /** The instance of a task is gone, and with it perhaps tuples; repeats are harmless. */
  taskLost(task: TaskId): void {
    this.#news.lost(task, this.#options.clock.wallNow());
  }

  /** A retiring task has ended, and nothing of it is left anywhere. */
  taskRetired(task: TaskId): void {
    this.#news.retired(task);
    this.#tellSoon();
  }

  /** The plan that this stream manager works by, and which tasks it has in this container. */
  planInForce(planEpoch: Epoch, tasks: ReadonlySet<TaskId>): void {
    this.#news.planInForce(planEpoch, tasks);
    this.#tellSoon();
  }

  close(): void {
    this.#watch?.close();
    this.#locationLimit?.cancel();
    this.#end();
    this.#client.close();
  }

  #handleLocation(bytes: Uint8Array): void {
    const { own, logger, events } = this.#options;
    let location: ReturnType<typeof TopologyMasterLocation.decode>;
    try {
      location = TopologyMasterLocation.decode(bytes);
    } catch (error) {
      if (!hasCode(error, 'PACKET_MALFORMED')) throw error;
      logger.error('the location of the topology master is corrupted', { reason: error.message });
      return;
    }
    if (location.topologyId !== own.topologyId || location.topologyName !== own.topologyName) {
      const why = `the topology master is that of ${location.topologyId}, not of ${own.topologyId}`;
      events.onFatal(environmentError('WRONG_TOPOLOGY', why));
      return;
    }
    if (!this.#isCurrent(location.epoch, 'a location')) return;
    this.#locationLimit?.cancel();
    this.#location = { host: location.host, port: location.serverPort };
    if (this.#instances !== undefined) this.#client.retarget(this.#location);
  }

  /** The handshake of a connection. */
  async #begin(connection: PacketConnection): Promise<void> {
    this.#registered = undefined;
    this.#isAwaitingAnswer = false;
    await this.#registerNewest(connection);
    this.#heartbeatNow(connection);
  }

  #end(): void {
    this.#nextHeartbeat?.cancel();
    this.#nextRegistration?.cancel();
  }

  /** On a connection that is registered (M4). */
  async #registerAgain(connection: PacketConnection): Promise<void> {
    if (this.#registering === connection || !connection.isOpen) return;
    this.#nextRegistration?.cancel();
    try {
      await this.#registerNewest(connection);
    } catch (error) {
      if (!hasCode(error, 'NOT_EXPECTED')) {
        connection.failHandler(error);
        return;
      }
      const { clock, logger, reconnectIntervalMs } = this.#options;
      logger.warn('the topology master does not know these instances yet', {
        reason: error.message,
      });
      const again = (): void => void this.#registerAgain(connection);
      this.#nextRegistration = clock.after(reconnectIntervalMs, again);
    }
  }

  /** Until what is registered is the newest; then it is this connection's. */
  async #registerNewest(connection: PacketConnection): Promise<void> {
    this.#registering = connection;
    try {
      for (;;) {
        const instances = assertDefined(this.#instances, 'the master is dialled to register');
        if (isSameList(this.#registered, instances)) return;
        await this.#register(connection, instances);
        this.#registered = instances;
      }
    } finally {
      if (this.#registering === connection) this.#registering = undefined;
    }
  }

  async #register(
    connection: PacketConnection,
    instances: readonly InstanceAddress[],
  ): Promise<void> {
    const { own, address } = this.#options;
    const request = RegisterStreamManager.request.create({
      stmgr: streamManagerToMessage(address),
      instances: instances.map(instanceToMessage),
      token: own.token,
      engineVersion: own.engineVersion,
      masterEpoch: BigInt(this.#masterEpoch),
    });
    const limit = { timeoutMs: ANSWER_TIMEOUT_MS };
    const answer = await connection.request(RegisterStreamManager, request, limit);
    const { status, pplan, masterEpoch } = answer;
    if (status?.status !== StatusCode.OK) {
      const why = status?.message ?? 'no reason given';
      const message = `the topology master refused this stream manager: ${why}`;
      throw environmentError('NOT_EXPECTED', message, { retryable: true });
    }
    if (!this.#isCurrent(masterEpoch, 'an answer')) {
      throw environmentError('STALE_EPOCH', 'an older topology master answered');
    }
    if (pplan !== undefined) this.#options.events.onPlan(pplan);
  }

  #handlePlan(plan: PhysicalPlanMessage | undefined, masterEpoch: bigint): void {
    if (plan !== undefined && this.#isCurrent(masterEpoch, 'a plan')) {
      this.#options.events.onPlan(plan);
    }
  }

  #tellSoon(): void {
    const { connection } = this.#client;
    if (connection !== undefined) this.#heartbeatNow(connection);
  }

  #heartbeatNow(connection: PacketConnection): void {
    this.#nextHeartbeat?.cancel();
    // M2: the answer that is awaited asks for the next one.
    if (this.#isAwaitingAnswer || !connection.isOpen) return;
    this.#isAwaitingAnswer = true;
    void this.#heartbeat(connection);
  }

  async #heartbeat(connection: PacketConnection): Promise<void> {
    const { clock, heartbeatIntervalMs } = this.#options;
    const { version } = this.#news;
    const request = StreamManagerHeartbeat.request.create({
      heartbeatTime: BigInt(Math.floor(clock.wallNow() / 1_000)),
      stats: {},
      ...this.#news.all,
    });
    try {
      const { status } = await connection.request(StreamManagerHeartbeat, request, {
        timeoutMs: ANSWER_TIMEOUT_MS,
      });
      if (status?.status !== StatusCode.OK) {
        const why = status?.message ?? 'no reason given';
        throw environmentError('NOT_EXPECTED', `the topology master refused a heartbeat: ${why}`);
      }
    } catch (error) {
      connection.failHandler(error);
      return;
    }
    this.#isAwaitingAnswer = false;
    if (this.#news.version > version) this.#heartbeatNow(connection);
    else {
      const next = (): void => this.#heartbeatNow(connection);
      this.#nextHeartbeat = clock.after(heartbeatIntervalMs, next);
    }
  }

  /** M1, and remembers a newer epoch. Foreign masters have none, which reads as 0. */
  #isCurrent(masterEpoch: bigint, what: string): boolean {
    const known = this.#masterEpoch;
    if (masterEpoch < known) {
      const fields = { knownEpoch: known, masterEpoch: Number(masterEpoch) };
      this.#options.logger.warn(`refused ${what} of an older topology master`, fields);
      return false;
    }
    this.#masterEpoch = epoch(Number(masterEpoch));
    return true;
  }
}

function isSameList(
  one: readonly InstanceAddress[] | undefined,
  other: readonly InstanceAddress[],
): boolean {
  if (one?.length !== other.length) return false;
  return other.every(({ id }) => one.some((address) => address.id === id));
}
