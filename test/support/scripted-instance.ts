import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { assertDefined } from '../../src/base/assert.ts';
import type { InstanceAddress } from '../../src/model/physical-plan.ts';
import { encodePacket, FrameAssembler, NO_REQUEST_ID } from '../../src/wire/frame.ts';
import type { HeronControlTupleSet } from '../../src/wire/generated/tuple_pb.js';
import { NewInstanceAssignment, RegisterInstance, StatusCode } from '../../src/wire/messages.ts';
import {
  instanceToMessage,
  physicalPlanFromMessage,
  type PhysicalPlanMessage,
} from '../../src/wire/physical-plan.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../src/wire/tuple-set-format.ts';
import { consumedBytesSet } from '../../src/wire/tuple-set-writer.ts';
import { eventually } from './eventually.ts';
import { resetSocket } from './reset-socket.ts';
import { readTupleSet } from './tuple-sets.ts';

export interface SeenPacket {
  readonly typeName: string;
  readonly requestId: Uint8Array;
  readonly payload: Buffer;
}

export interface RegistrationFields {
  readonly topologyName: string;
  readonly topologyId: string;
  readonly token?: string;
  readonly engineVersion?: string;
  readonly creditBytes?: number;
  readonly bootId?: string;
  readonly startTicks?: number;
  /** Promises to say now and then that it lives, which it never does. */
  readonly beats?: boolean;
}

/**
 * An instance for tests of stream managers: a plain socket, so that it can send any bytes and read
 * at its own pace. It keeps all that it receives, and reports its sets as consumed unless it
 * `isSlow`.
 */
export class ScriptedInstance {
  readonly packets: SeenPacket[] = [];
  /** Payloads of the sets that hold data, in order. */
  readonly sets: Buffer[] = [];
  /** What came of acks, fails and emits, in order. */
  readonly controls: HeronControlTupleSet[] = [];
  readonly endedTasks: number[] = [];
  /** What it was told of back pressure: the slow component, or that it is over. */
  readonly holds: (string | undefined)[] = [];
  /** How many tuples had come when the end of each of them did. */
  readonly tuplesBeforeEnd: number[] = [];
  /** How many tuples came, and how many bytes of sets with data. */
  tupleCount = 0;
  receivedBytes = 0;
  releasedBytes = 0;
  isSlow = false;
  isClosed = false;
  readonly #socket: Socket;
  readonly #assembler = new FrameAssembler(64 * 1024 * 1024);
  #task = 0;
  #speaksCredits = false;

  static async connect(t: TestContext, port: number): Promise<ScriptedInstance> {
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    t.after(() => socket.destroy());
    return new ScriptedInstance(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  /** Registers and waits for the answer, which it returns. */
  async register(address: InstanceAddress, fields: RegistrationFields) {
    this.#task = address.task;
    this.#speaksCredits = fields.creditBytes !== undefined;
    const request = RegisterInstance.request.create({
      instance: instanceToMessage(address),
      topologyName: fields.topologyName,
      topologyId: fields.topologyId,
      ...(fields.token !== undefined && { token: fields.token }),
      ...(fields.engineVersion !== undefined && { engineVersion: fields.engineVersion }),
      ...(fields.creditBytes !== undefined && { creditBytes: BigInt(fields.creditBytes) }),
      ...(fields.bootId !== undefined && { bootId: fields.bootId }),
      ...(fields.startTicks !== undefined && { startTicks: BigInt(fields.startTicks) }),
      ...(fields.beats !== undefined && { beats: fields.beats }),
    });
    const { typeName } = RegisterInstance.request;
    const requestId = Buffer.alloc(32, 7);
    this.sendBytes(encodePacket(typeName, requestId, RegisterInstance.request.encode(request)));
    return this.registrationAnswer();
  }

  async registrationAnswer() {
    const answer = await eventually(
      () =>
        this.packets.find(({ typeName }) => typeName === RegisterInstance.response.typeName) ??
        false,
    );
    return RegisterInstance.response.decode(answer.payload);
  }

  /** The plans that it was given, with its registration or later. */
  get plans(): readonly PhysicalPlanMessage[] {
    return this.packets.flatMap(({ typeName, payload }) => {
      if (typeName === NewInstanceAssignment.typeName) {
        return [assertDefined(NewInstanceAssignment.decode(payload).pplan, 'a required field')];
      }
      if (typeName !== RegisterInstance.response.typeName) return [];
      const { status, pplan } = RegisterInstance.response.decode(payload);
      return status?.status === StatusCode.OK && pplan !== undefined ? [pplan] : [];
    });
  }

  async plan() {
    const [first] = await eventually(() => (this.plans.length > 0 ? this.plans : false));
    return physicalPlanFromMessage(assertDefined(first, 'there is one'));
  }

  /** The first value of every tuple that came, as the bytes of its text. */
  get firstValues(): readonly string[] {
    return this.sets.flatMap((set) =>
      (readTupleSet(set).data?.tuples ?? []).map(({ values }) =>
        Buffer.from(values[0] ?? []).toString('latin1'),
      ),
    );
  }

  sendSet(payload: Uint8Array): void {
    this.sendBytes(encodePacket(TUPLE_SET_TYPE, NO_REQUEST_ID, payload));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Reports so many bytes as consumed; all that came when none are named. */
  consume(bytes = this.receivedBytes): void {
    this.sendSet(consumedBytesSet(this.#task, bytes));
  }

  /** Bytes that it has written and its own socket has not taken. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** As a process that is killed. */
  kill(): void {
    resetSocket(this.#socket);
  }

  #receive(chunk: Buffer): void {
    this.#assembler.feed(chunk);
    for (let packet = this.#assembler.next(); packet; packet = this.#assembler.next()) {
      const { typeName } = packet;
      const payload = Buffer.from(packet.payload);
      if (typeName === TUPLE_SET_2_TYPE) this.#receiveSet(payload);
      else this.packets.push({ typeName, requestId: Buffer.from(packet.requestId), payload });
    }
  }

  #receiveSet(payload: Buffer): void {
    const set = readTupleSet(payload);
    this.releasedBytes += Number(set.grantedBytes);
    if (set.backPressure !== undefined) {
      const { isHeld, component, stmgr } = set.backPressure;
      this.holds.push(isHeld ? `${component} by ${stmgr}` : undefined);
    }
    if (set.endOfInput) {
      this.endedTasks.push(set.srcTaskId);
      this.tuplesBeforeEnd.push(this.tupleCount);
    }
    if (set.control !== undefined) this.controls.push(set.control);
    if (set.data === undefined) return;
    this.sets.push(payload);
    this.tupleCount += set.data.tuples.length;
    this.receivedBytes += payload.length;
    if (this.#speaksCredits && !this.isSlow) this.consume(payload.length);
  }
}
