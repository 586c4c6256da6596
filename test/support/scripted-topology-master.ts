import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { type Epoch, epoch, type StreamManagerId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import type { PhysicalPlan, StreamManagerAddress } from '../../src/model/physical-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import type { PacketConnection } from '../../src/net/packet-connection.ts';
import { PacketServer } from '../../src/net/server.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import {
  NewPhysicalPlan,
  RegisterStreamManager,
  StatusCode,
  StreamManagerHeartbeat,
  TopologyMasterLocation,
  type ValueOf,
} from '../../src/wire/messages.ts';
import { physicalPlanToMessage, streamManagerFromMessage } from '../../src/wire/physical-plan.ts';
import type { TopologyMessage } from '../../src/wire/topology.ts';

type Registration = ValueOf<typeof RegisterStreamManager.request>;

export interface ScriptedTopologyMasterOptions {
  readonly stateManager: StateManager;
  /** Its stream managers are those that have to register; their addresses come from them. */
  readonly plan: PhysicalPlan;
  readonly topology: TopologyMessage;
  readonly masterEpoch?: Epoch;
}

/**
 * A topology master for tests of stream managers: it publishes its location, takes every
 * registration, and sends the plan when all have registered, and again at each later registration.
 */
export class ScriptedTopologyMaster {
  readonly registrations = new Map<StreamManagerId, Registration>();
  /** All registrations that were accepted, in order. */
  readonly registered: Registration[] = [];
  /** What each heartbeat said of ended tasks, in order. */
  readonly heartbeats: (readonly number[])[] = [];
  /** What the newest heartbeat of each said of retired tasks, and of its plan. */
  readonly retired = new Map<StreamManagerId, readonly number[]>();
  readonly planEpochs = new Map<StreamManagerId, number>();
  /** What the newest heartbeat said of lost tasks. */
  lostTasks: readonly number[] = [];
  plan: PhysicalPlan;
  /** What registrations are answered with. */
  status: StatusCode = StatusCode.OK;
  masterEpoch: Epoch;
  /** While true, the plan waits for `publish`. */
  holdsPlanBack = false;
  readonly #options: ScriptedTopologyMasterOptions;
  readonly #connections = new Map<StreamManagerId, PacketConnection>();
  #server: PacketServer | undefined;

  static async start(
    t: TestContext,
    options: ScriptedTopologyMasterOptions,
  ): Promise<ScriptedTopologyMaster> {
    const master = new ScriptedTopologyMaster(options);
    await master.#listen();
    t.after(() => master.close());
    return master;
  }

  private constructor(options: ScriptedTopologyMasterOptions) {
    this.#options = options;
    this.plan = options.plan;
    this.masterEpoch = options.masterEpoch ?? epoch(1);
  }

  /** Where the stream managers of the plan really listen. */
  get addresses(): readonly StreamManagerAddress[] {
    return [...this.registrations.values()].flatMap(({ stmgr }) =>
      stmgr === undefined ? [] : [streamManagerFromMessage(stmgr)],
    );
  }

  /** Sends the plan to all, with other addresses where the test names some. */
  publish(addresses = this.addresses): void {
    const isPlanned = ({ id }: StreamManagerAddress): boolean =>
      this.plan.streamManagers.some((planned) => planned.id === id);
    const plan = { ...this.plan, streamManagers: addresses.filter(isPlanned) };
    const message = NewPhysicalPlan.create({
      newPplan: physicalPlanToMessage(plan, this.#options.topology),
      masterEpoch: BigInt(this.masterEpoch),
    });
    for (const connection of this.#connections.values()) connection.send(NewPhysicalPlan, message);
  }

  async publishLocation(fields: { readonly topologyId?: string; readonly epoch?: Epoch } = {}) {
    const { topology } = this.plan;
    const location = TopologyMasterLocation.create({
      topologyName: topology.name,
      topologyId: fields.topologyId ?? topology.id,
      host: '127.0.0.1',
      controllerPort: 1,
      serverPort: this.#server?.address.port ?? 0,
      epoch: BigInt(fields.epoch ?? this.masterEpoch),
    });
    const bytes = TopologyMasterLocation.encode(location);
    await this.#options.stateManager.write(paths.topologyMaster(topology.name), bytes);
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #listen(): Promise<void> {
    const handlers = new MessageHandlers()
      .onRequest(RegisterStreamManager, (request, connection) =>
        this.#register(request, connection),
      )
      .onRequest(StreamManagerHeartbeat, (beat, connection) => {
        const { endedTaskIds, lostTasks } = beat;
        const id = this.#idOf(connection);
        if (id !== undefined) {
          this.retired.set(id, [...beat.retiredTaskIds]);
          this.planEpochs.set(id, Number(beat.planEpoch));
        }
        this.lostTasks = lostTasks.map(({ taskId }) => taskId);
        this.heartbeats.push([...endedTaskIds]);
        return StreamManagerHeartbeat.response.create({ status: { status: StatusCode.OK } });
      });
    this.#server = await PacketServer.listen({
      network: tcpNetwork,
      address: { host: '127.0.0.1', port: 0 },
      handlers,
      packetBytesMax: 16 * 1024 * 1024,
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
    await this.publishLocation();
  }

  #register(request: Registration, connection: PacketConnection) {
    const id = request.stmgr?.id as StreamManagerId;
    if (this.status === StatusCode.OK) {
      this.registrations.set(id, request);
      this.registered.push(request);
      this.#connections.set(id, connection);
      connection.onClose(() => {
        if (this.#connections.get(id) === connection) this.#connections.delete(id);
      });
      const isComplete = this.plan.streamManagers.every((manager) =>
        this.registrations.has(manager.id),
      );
      if (isComplete && !this.holdsPlanBack) systemClock.soon(() => this.publish());
    }
    return RegisterStreamManager.response.create({
      status: { status: this.status, message: 'as the test says' },
      masterEpoch: BigInt(this.masterEpoch),
    });
  }

  #idOf(connection: PacketConnection): StreamManagerId | undefined {
    for (const [id, known] of this.#connections) if (known === connection) return id;
    return undefined;
  }
}
