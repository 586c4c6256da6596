import { systemClock, type Timer } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { ENGINE_VERSION } from '../../src/base/version.ts';
import type { InstanceAddress, StreamManagerAddress } from '../../src/model/physical-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import type { Address } from '../../src/net/network.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import type { RequestType } from '../../src/wire/message-type.ts';
import {
  NewPhysicalPlan,
  RegisterStreamManager,
  StreamManagerHeartbeat,
  type ValueOf,
} from '../../src/wire/messages.ts';
import { instanceToMessage, streamManagerToMessage } from '../../src/wire/physical-plan.ts';
import { TOKEN } from './measured-process.ts';

/*
  A stream manager as the topology master sees it. It counts the plans that it gets without reading
  them, so that the measured master is what takes the time.
*/

const PATIENT = { timeoutMs: 600_000 };

/** The answer, unread: only its size is of interest. */
const REGISTER: RequestType<ValueOf<typeof RegisterStreamManager.request>, number> = {
  request: RegisterStreamManager.request,
  response: {
    typeName: RegisterStreamManager.response.typeName,
    encode: () => new Uint8Array(),
    decode: (bytes) => bytes.length,
  },
};

export class ScriptedStreamManager {
  /** How many plans the master has sent by itself. */
  plans = 0;
  planBytes = 0;
  readonly #connection: PacketConnection;
  #beats: Timer | undefined;

  static async connect(master: Address): Promise<ScriptedStreamManager> {
    return new ScriptedStreamManager(await tcpNetwork.connect(master));
  }

  private constructor(stream: Awaited<ReturnType<typeof tcpNetwork.connect>>) {
    this.#connection = new PacketConnection(stream, {
      handlers: new MessageHandlers().onRaw(NewPhysicalPlan.typeName, ({ payload }) => {
        this.plans += 1;
        this.planBytes += payload.length;
      }),
      packetBytesMax: 64 * 1024 * 1024,
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
  }

  /** Returns the size of the answer. */
  register(address: StreamManagerAddress, instances: readonly InstanceAddress[]): Promise<number> {
    const request = REGISTER.request as typeof RegisterStreamManager.request;
    return this.#connection.request(
      REGISTER,
      request.create({
        stmgr: streamManagerToMessage(address),
        instances: instances.map(instanceToMessage),
        token: TOKEN,
        engineVersion: ENGINE_VERSION,
        masterEpoch: 0n,
      }),
      PATIENT,
    );
  }

  async beat(endedTaskIds: number[] = []): Promise<void> {
    const request = StreamManagerHeartbeat.request.create({
      heartbeatTime: BigInt(Math.floor(systemClock.wallNow() / 1000)),
      stats: {},
      endedTaskIds,
    });
    await this.#connection.request(StreamManagerHeartbeat, request, PATIENT);
  }

  /** The first beat comes at any time within the period. */
  beatEvery(periodMs: number): void {
    this.#beats?.cancel();
    const beat = (): void => {
      this.#beats = systemClock.after(periodMs, beat);
      void this.beat().catch(() => {}); // The connection ended: so do the beats.
    };
    this.#beats = systemClock.after(createSystemRandom().below(periodMs), beat);
  }

  close(): Promise<void> {
    this.#beats?.cancel();
    this.#connection.abort();
    return this.#connection.closed;
  }
}
