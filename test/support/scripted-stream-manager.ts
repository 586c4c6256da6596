import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { EngineError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { ENGINE_VERSION } from '../../src/base/version.ts';
import type { InstanceAddress, StreamManagerAddress } from '../../src/model/physical-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import type { Address } from '../../src/net/network.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import {
  NewPhysicalPlan,
  RegisterStreamManager,
  StreamManagerHeartbeat,
  type ValueOf,
} from '../../src/wire/messages.ts';
import { instanceToMessage, streamManagerToMessage } from '../../src/wire/physical-plan.ts';

/** Longer than any answer takes, shorter than a test may. */
const TIMEOUT = { timeoutMs: 10_000 };

export interface ScriptedClaim {
  readonly address: StreamManagerAddress;
  readonly instances: readonly InstanceAddress[];
  readonly token?: string;
  readonly engineVersion?: string;
  readonly masterEpoch?: number;
}

/** One connection with a topology master that says what the test tells it to. */
export class ScriptedStreamManager {
  /** What the master has sent by itself, oldest first. */
  readonly plans: ValueOf<typeof NewPhysicalPlan>[] = [];
  readonly connection: PacketConnection;

  static async connect(t: TestContext, master: Address): Promise<ScriptedStreamManager> {
    const stream = await tcpNetwork.connect(master);
    const manager = new ScriptedStreamManager(stream);
    t.after(() => manager.connection.abort());
    return manager;
  }

  private constructor(stream: ConstructorParameters<typeof PacketConnection>[0]) {
    this.connection = new PacketConnection(stream, {
      handlers: new MessageHandlers().on(NewPhysicalPlan, (message) => this.plans.push(message)),
      packetBytesMax: 1024 * 1024,
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
  }

  /** Undefined while the connection is open. */
  get closeReason(): EngineError | undefined {
    return this.connection.closeReason;
  }

  /** The epochs of the plans that came by themselves. */
  get planEpochs(): number[] {
    return this.plans.map(({ newPplan }) => Number(newPplan?.epoch));
  }

  register(claim: ScriptedClaim): Promise<ValueOf<typeof RegisterStreamManager.response>> {
    const { address, instances, token = 'secret', engineVersion = ENGINE_VERSION } = claim;
    const request = RegisterStreamManager.request.create({
      stmgr: streamManagerToMessage(address),
      instances: instances.map(instanceToMessage),
      token,
      engineVersion,
      masterEpoch: BigInt(claim.masterEpoch ?? 0),
    });
    return this.connection.request(RegisterStreamManager, request, TIMEOUT);
  }

  beat(...endedTaskIds: number[]): Promise<ValueOf<typeof StreamManagerHeartbeat.response>> {
    return this.beatWith({ endedTaskIds });
  }

  beatWith({
    endedTaskIds = [],
    lostTaskIds = [],
    retiredTaskIds = [],
    planEpoch = 0,
  }: {
    readonly endedTaskIds?: readonly number[];
    readonly lostTaskIds?: readonly number[];
    readonly retiredTaskIds?: readonly number[];
    readonly planEpoch?: number;
  }): Promise<ValueOf<typeof StreamManagerHeartbeat.response>> {
    const request = StreamManagerHeartbeat.request.create({
      heartbeatTime: 0n,
      stats: {},
      endedTaskIds: [...endedTaskIds],
      lostTasks: lostTaskIds.map((taskId) => ({ taskId, lostAt: 7n })),
      retiredTaskIds: [...retiredTaskIds],
      planEpoch: BigInt(planEpoch),
    });
    return this.connection.request(StreamManagerHeartbeat, request, TIMEOUT);
  }
}
