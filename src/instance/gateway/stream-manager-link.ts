import type { Clock } from '../../base/clock.ts';
import { type EngineError, environmentError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import type { Random } from '../../base/random.ts';
import { ENGINE_VERSION } from '../../base/version.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { ReconnectingClient } from '../../net/client.ts';
import { MessageHandlers } from '../../net/message-handlers.ts';
import type { Network } from '../../net/network.ts';
import type { PacketConnection } from '../../net/packet-connection.ts';
import { LinkWatch } from '../../supervision/link-watch.ts';
import type { Packet } from '../../wire/frame.ts';
import {
  LinkBeat,
  NewInstanceAssignment,
  RegisterInstance,
  StatusCode,
} from '../../wire/messages.ts';
import { instanceToMessage, physicalPlanFromMessage } from '../../wire/physical-plan.ts';
import type { InstanceIdentity } from '../instance-identity.ts';

/** Stream manager → instance: data, end markers and credit. */
const TO_INSTANCE = 'heron.proto.system.HeronTupleSet2';
/** Heron's instances give up after 5 s; a loaded machine may need as long to answer. */
const REGISTRATION_TIMEOUT_MS = 5_000;
/**
 * Waits grow up to this multiple of the first. More would be waited for in vain when a stream
 * manager that starts anew, in about a second, is there; a dial on the same host costs nothing.
 */
const RECONNECT_FACTOR = 2;

export interface StreamManagerLinkOptions {
  readonly identity: InstanceIdentity;
  readonly token: string;
  readonly process: ProcessIdentity;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly packetBytesMax: number;
  readonly reconnectMs: number;
  /** Silence of the stream manager after which the connection is made anew. */
  readonly silenceMs: number;
  /** The window that this instance keeps for what comes in; says that it speaks credits. */
  readonly creditBytes: number;
  /** Whether the task has ended, which a registration repeats. */
  readonly hasEnded: () => boolean;
  readonly onPlan: (plan: PhysicalPlan) => void;
  /** `creditBytes` is undefined when the stream manager knows no credits (Heron's own). */
  readonly onConnected: (connection: PacketConnection, creditBytes: number | undefined) => void;
  /** An earlier process of this instance has brought its task to the end. Before `onConnected`. */
  readonly onEndedBefore: () => void;
  readonly onDisconnected: () => void;
  /** A later process of this instance has registered: there is no way back. */
  readonly onReplaced: (error: EngineError) => void;
  readonly onSet: (packet: Packet) => void;
}

/**
 * The instance's connection with its container's stream manager, made again whenever it is lost.
 */
export class StreamManagerLink {
  readonly #options: StreamManagerLinkOptions;
  readonly #client: ReconnectingClient;
  readonly #watch: LinkWatch;

  constructor(options: StreamManagerLinkOptions) {
    this.#options = options;
    const { onPlan, onSet, onDisconnected } = options;
    this.#watch = new LinkWatch(options.clock, options.silenceMs);
    this.#client = new ReconnectingClient({
      peer: 'stream manager',
      network: options.network,
      clock: options.clock,
      random: options.random,
      logger: options.logger,
      packetBytesMax: options.packetBytesMax,
      backoffMinMs: options.reconnectMs,
      backoffMaxMs: options.reconnectMs * RECONNECT_FACTOR,
      handlers: new MessageHandlers()
        .on(NewInstanceAssignment, ({ pplan }) => {
          if (pplan !== undefined) onPlan(physicalPlanFromMessage(pplan));
        })
        .onRaw(TO_INSTANCE, (packet) => onSet(packet))
        .onRaw(LinkBeat.typeName, () => {}), // It has come: link-watch.ts has seen that.
      onConnected: (connection) => this.#register(connection),
      onDisconnected: () => onDisconnected(),
    });
  }

  start(): void {
    const { host, streamManagerPort } = this.#options.identity;
    this.#client.retarget({ host, port: streamManagerPort });
  }

  close(): void {
    this.#client.close();
  }

  async #register(connection: PacketConnection): Promise<void> {
    const { identity, token, process, creditBytes, hasEnded } = this.#options;
    const request = RegisterInstance.request.create({
      instance: instanceToMessage({
        id: identity.instance,
        streamManager: identity.streamManager,
        task: identity.task,
        componentIndex: identity.componentIndex,
        component: identity.component,
      }),
      topologyName: identity.topologyName,
      topologyId: identity.topologyId,
      token,
      engineVersion: ENGINE_VERSION,
      creditBytes: BigInt(creditBytes),
      ended: hasEnded(),
      bootId: process.bootId,
      startTicks: BigInt(process.startTicks),
      beats: true,
    });
    const response = await connection.request(RegisterInstance, request, {
      timeoutMs: REGISTRATION_TIMEOUT_MS,
    });
    if (response.status?.status !== StatusCode.OK) {
      const text = `the stream manager refused: ${response.status?.message ?? 'without a reason'}`;
      if (response.replaced) this.#options.onReplaced(environmentError('DUPLICATE_PEER', text));
      throw environmentError('NOT_EXPECTED', text, { retryable: true });
    }
    const { onEndedBefore, onConnected, onPlan } = this.#options;
    const { creditBytes: granted, ended, pplan, beats } = response;
    if (beats) this.#watch.add(connection, 'the stream manager'); // Heron's own says nothing of it.
    if (ended && !hasEnded()) onEndedBefore();
    // An absent field reads as zero.
    onConnected(connection, granted === 0n ? undefined : Number(granted));
    if (pplan !== undefined) onPlan(physicalPlanFromMessage(pplan));
  }
}
