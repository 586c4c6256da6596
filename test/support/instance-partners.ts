import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { epoch } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import type { TopologyState } from '../../src/model/logical-topology.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import type { PacketConnection } from '../../src/net/packet-connection.ts';
import { PacketServer } from '../../src/net/server.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { NO_REQUEST_ID, packetHeaderBytes, writePacketHeader } from '../../src/wire/frame.ts';
import {
  NewInstanceAssignment,
  PublishMetrics,
  RegisterInstance,
  RegisterMetricPublisher,
  StatusCode,
  type ValueOf,
} from '../../src/wire/messages.ts';
import { physicalPlanToMessage } from '../../src/wire/physical-plan.ts';
import { topologyToMessage } from '../../src/wire/topology.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../src/wire/tuple-set-format.ts';
import { grantedBytesSet } from '../../src/wire/tuple-set-writer.ts';
import { setText } from './task-in-test.ts';
import { controlTexts, readTupleSet, type TestSet, tupleSetBytes } from './tuple-sets.ts';

const PACKET_BYTES_MAX = 16 * 1024 * 1024;

export interface SeenRegistration {
  readonly payload: Buffer;
  readonly request: ValueOf<typeof RegisterInstance.request>;
}

/** The stream manager and the metrics manager of one instance, which do what the test says. */
export class InstancePartners {
  readonly registrations: SeenRegistration[] = [];
  /** What the instance has sent, in words: `default: a b`, `ack 1:5=7`, `end 1`, `consumed 70`. */
  readonly seen: string[] = [];
  /** Of the tuples that the instance has sent. */
  readonly rootKeys: bigint[] = [];
  /** Payload bytes of sets with data. */
  receivedBytes = 0;
  /** First lines of the exceptions that were published. */
  readonly exceptions: string[] = [];
  readonly publishers: Buffer[] = [];
  /** The window of the instance; undefined, as Heron's own stream manager, knows no credits. */
  creditBytes: number | undefined = PACKET_BYTES_MAX;
  status: StatusCode = StatusCode.OK;
  /** With a refusal: says that a later process has registered. */
  saysReplaced = false;
  plan: PhysicalPlan;
  #streamManager: PacketServer | undefined;
  #metricsManager: PacketServer | undefined;

  static async start(t: TestContext, plan: PhysicalPlan): Promise<InstancePartners> {
    const partners = new InstancePartners(plan);
    await partners.listen();
    partners.#metricsManager = await listen(partners.#metricsHandlers(), 0);
    t.after(async () => {
      await partners.leave();
      await partners.#metricsManager?.close();
    });
    return partners;
  }

  private constructor(plan: PhysicalPlan) {
    this.plan = plan;
  }

  get streamManagerPort(): number {
    return this.#streamManager?.address.port ?? 0;
  }

  get metricsManagerPort(): number {
    return this.#metricsManager?.address.port ?? 0;
  }

  /** The stream manager is there, on the port that it had before. */
  async listen(port = 0): Promise<void> {
    this.#streamManager = await listen(this.#streamHandlers(), port);
  }

  /** The stream manager goes away. */
  async leave(): Promise<void> {
    await this.#streamManager?.close();
  }

  /** The plan as it is, with the topology in another state. */
  setState(state: TopologyState): void {
    this.plan = { ...this.plan, topology: { ...this.plan.topology, state } };
    for (const connection of this.#connections) connection.send(NewInstanceAssignment, this.#given);
  }

  /** Another plan, with the next number. */
  givePlan(change: Partial<PhysicalPlan>): void {
    this.plan = { ...this.plan, ...change, epoch: epoch(this.plan.epoch + 1) };
    for (const connection of this.#connections) connection.send(NewInstanceAssignment, this.#given);
  }

  send(set: Partial<TestSet>): void {
    this.#sendSet(tupleSetBytes({ task: 1, component: 'words', ...set }));
  }

  /** A set as it is, such as `settledSet` makes it. */
  sendSet(payload: Uint8Array): void {
    this.#sendSet(payload);
  }

  grant(bytes: number): void {
    this.#sendSet(grantedBytesSet(1, bytes));
  }

  /** Bytes that the instance's side has not taken yet. */
  get unsentBytes(): number {
    return [...this.#connections].reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
  }

  get #connections(): Iterable<PacketConnection> {
    return this.#streamManager?.connections ?? [];
  }

  get #given() {
    const pplan = physicalPlanToMessage(this.plan, topologyToMessage(this.plan.topology));
    return NewInstanceAssignment.create({ pplan });
  }

  #sendSet(payload: Uint8Array): void {
    const header = Buffer.alloc(packetHeaderBytes(TUPLE_SET_2_TYPE));
    writePacketHeader(header, 0, TUPLE_SET_2_TYPE, NO_REQUEST_ID, payload.length);
    for (const connection of this.#connections) connection.sendPacket(header, payload);
  }

  #streamHandlers(): MessageHandlers {
    const { request, response } = RegisterInstance;
    return new MessageHandlers()
      .onRaw(request.typeName, (packet, connection) => {
        const payload = Buffer.from(packet.payload);
        this.registrations.push({ payload, request: request.decode(payload) });
        const answer = response.create({
          status: { status: this.status, message: 'as the test says' },
          replaced: this.saysReplaced,
          ...(this.creditBytes !== undefined && { creditBytes: BigInt(this.creditBytes) }),
        });
        connection.respond(packet.requestId, response, answer);
        if (this.status === StatusCode.OK) connection.send(NewInstanceAssignment, this.#given);
      })
      .onRaw(TUPLE_SET_TYPE, ({ payload }) => this.#receive(payload));
  }

  #receive(payload: Uint8Array): void {
    const { data, control, endOfInput, srcTaskId, consumedBytes } = readTupleSet(payload);
    if (control !== undefined) this.seen.push(...controlTexts(control));
    else if (data !== undefined) {
      this.receivedBytes += payload.length;
      this.seen.push(setText(payload));
      for (const { roots } of data.tuples) this.rootKeys.push(...roots.map(({ key }) => key));
    } else this.seen.push(endOfInput ? `end ${srcTaskId}` : `consumed ${consumedBytes}`);
  }

  #metricsHandlers(): MessageHandlers {
    const { request, response } = RegisterMetricPublisher;
    return new MessageHandlers()
      .onRaw(request.typeName, (packet, connection) => {
        this.publishers.push(Buffer.from(packet.payload));
        const answer = response.create({ status: { status: StatusCode.OK } });
        connection.respond(packet.requestId, response, answer);
      })
      .on(PublishMetrics, ({ exceptions }) => {
        for (const { stacktrace } of exceptions) this.exceptions.push(stacktrace);
      });
  }
}

function listen(handlers: MessageHandlers, port: number): Promise<PacketServer> {
  return PacketServer.listen({
    network: tcpNetwork,
    address: { host: '127.0.0.1', port },
    handlers,
    packetBytesMax: PACKET_BYTES_MAX,
    clock: systemClock,
    random: createSystemRandom(),
    logger: silentLogger,
  });
}
