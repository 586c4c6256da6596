import { create, toBinary } from '@bufbuild/protobuf';
import { assertDefined } from '../../src/base/assert.ts';
import type { TaskId } from '../../src/base/ids.ts';
import type { FailReason } from '../../src/model/fail-reason.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import type { PacketConnection } from '../../src/net/packet-connection.ts';
import type { DataPath } from '../../src/stream-manager/data-path.ts';
import { InstanceSession } from '../../src/stream-manager/instance-session.ts';
import { decodeFailDetail } from '../../src/wire/fail-detail.ts';
import { Packet } from '../../src/wire/frame.ts';
import {
  type AckTuple,
  FailDetailSchema,
  type HeronTupleSet,
  HeronTupleSetSchema,
} from '../../src/wire/generated/tuple_pb.js';
import type { MessageType } from '../../src/wire/message-type.ts';
import { readTupleSet, valueBytes } from './tuple-sets.ts';

/** A tuple as a bolt got it. */
export interface ArrivedTuple {
  readonly key: bigint;
  readonly roots: readonly { readonly taskid: number; readonly key: bigint }[];
}

const WORD = valueBytes('word');

type SendPayload = (payload: Uint8Array, isControl: boolean) => boolean;

/** What a path needs of a connection: somewhere for its payloads to go. */
export function connectionInto(
  send: SendPayload,
  queuedBytes: () => number = () => 0,
): PacketConnection {
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

export function packetOf(payload: Uint8Array): Packet {
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

  /** Its last tuple has been sent. */
  end(): void {
    this.sendSet({ endOfInput: true });
  }

  /** Tasks whose end it was told, each time. */
  get ended(): readonly number[] {
    return this.sets.filter(({ endOfInput }) => endOfInput).map(({ srcTaskId }) => srcTaskId);
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
