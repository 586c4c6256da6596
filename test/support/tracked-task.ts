import assert from 'node:assert/strict';
import { create, toBinary } from '@bufbuild/protobuf';
import type { AnyComponent } from '../../src/api/component-runtime.ts';
import { CONNECTION_MARKER } from '../../src/instance/ring-markers.ts';
import type { FailKind } from '../../src/model/fail-reason.ts';
import { DATA } from '../../src/ring/byte-ring.ts';
import {
  type AckTuple,
  FailKind as WireFailKind,
  type HeronTupleSet,
  HeronTupleSetSchema,
} from '../../src/wire/generated/tuple_pb.js';
import { decodeValue } from '../../src/wire/value-reader.ts';
import { promiseDoorbells } from './promise-doorbell.ts';
import { TaskInTest, type TaskInTestOptions, writeFrame } from './task-in-test.ts';
import { aTuple, controlTexts, readTupleSet, rootsText, type TestTuple } from './tuple-sets.ts';

export interface TestAck {
  /** 1, the task of `source`, unless told otherwise. */
  readonly task?: number;
  readonly key: bigint;
  readonly reason?: {
    readonly kind: FailKind;
    readonly component?: string;
    readonly task?: number;
    readonly message?: string;
  };
}

const WIRE_KINDS: Readonly<Record<FailKind, WireFailKind>> = {
  'time-out': WireFailKind.FAIL_TIME_OUT,
  explicit: WireFailKind.FAIL_EXPLICIT,
  thrown: WireFailKind.FAIL_THROWN,
  'lost-instance': WireFailKind.FAIL_LOST_INSTANCE,
  'lost-stream-manager': WireFailKind.FAIL_LOST_STREAM_MANAGER,
  dropped: WireFailKind.FAIL_DROPPED,
};

/** What a stream manager tells a spout, made by the generated codec. */
export function settledSet({
  acks = [],
  fails = [],
}: {
  readonly acks?: readonly TestAck[];
  readonly fails?: readonly TestAck[];
}): Uint8Array {
  const message = create(HeronTupleSetSchema, {
    srcTaskId: 9,
    control: { acks: acks.map(ackTuple), fails: fails.map(ackTuple) },
  });
  return toBinary(HeronTupleSetSchema, message);
}

function ackTuple({ task = 1, key, reason }: TestAck) {
  return {
    roots: [{ taskid: task, key }],
    ackedtuple: 0n,
    ...(reason && {
      detail: {
        kind: WIRE_KINDS[reason.kind],
        ...(reason.component !== undefined && { component: reason.component }),
        ...(reason.task !== undefined && { taskId: reason.task }),
        ...(reason.message !== undefined && { message: reason.message }),
      },
    }),
  };
}

/** A tuple of one word that belongs to trees of `source`, or of the tasks that are named. */
export function aTracked(word: string, key: bigint, ...roots: readonly (bigint | RootInTest)[]) {
  return {
    ...aTuple(word),
    key,
    roots: roots.map((root) => (typeof root === 'bigint' ? { task: 1, key: root } : root)),
  } satisfies TestTuple;
}

export interface RootInTest {
  readonly task: number;
  readonly key: bigint;
}

/** A start reads files, in so many turns at most. */
const TURNS_MAX = 1_000;

/** A task under at least once, and what it sends: frames with roots, acks and fails in words. */
export class TrackedTask extends TaskInTest {
  /** Of the start by `emitted`. */
  done: Promise<'ended' | 'stopped'> = Promise.resolve('stopped');
  /** Details of the fails that `takeSent` has shown. */
  readonly reasons: NonNullable<AckTuple['detail']>[] = [];

  constructor(component: AnyComponent, options: TaskInTestOptions = {}) {
    const config = { 'topology.reliability.mode': 'ATLEAST_ONCE', ...options.config };
    super(component, { doorbells: promiseDoorbells(), ...options, config });
  }

  /** Enough for several calls that follow each other. */
  override async turn(): Promise<void> {
    await super.turn();
    await super.turn();
  }

  /** The stream manager says what has become of messages. */
  settle(set: Parameters<typeof settledSet>[0]): void {
    writeFrame(this.gateway.dataIn, settledSet(set));
  }

  /** The connection with the stream manager was lost and is there again. */
  reconnect(): void {
    this.gateway.dataIn.writeMarker(CONNECTION_MARKER);
  }

  setHeld(isHeld: boolean): void {
    this.gateway.status.setHeld(isHeld);
    this.gateway.ringTask();
  }

  /**
   * What the task has written since the last call:
   * `a<1:5> b` tuples and their roots, `ack 1:5=7` an ack of root 5 of task 1 with tuple keys XORed
   * to 7, `fail 1:5`, `marker 3`.
   */
  takeSent(): string[] {
    const ring = this.gateway.dataOut;
    const sent: string[] = [];
    while (ring.next()) {
      const { kind, bytes, start, end } = ring;
      if (kind === DATA) sent.push(...this.#describe(readTupleSet(bytes.subarray(start, end))));
      else sent.push(`marker ${kind}`);
      ring.release();
    }
    return sent;
  }

  /** Starts the task, and gives the root keys of so many tuples, once it has written them. */
  async emitted(count: number): Promise<bigint[]> {
    this.done = this.start();
    this.done.catch(() => {}); // A test that lets it fail looks at it itself.
    const keys: bigint[] = [];
    for (let turns = 0; keys.length < count && turns < TURNS_MAX; turns += 1) {
      await this.turn();
      keys.push(...this.takeRootKeys());
    }
    assert.equal(keys.length, count);
    return keys;
  }

  /** Root keys of the tuples that the task has written since the last call. */
  takeRootKeys(): bigint[] {
    const ring = this.gateway.dataOut;
    const keys: bigint[] = [];
    while (ring.next()) {
      const { kind, bytes, start, end } = ring;
      const { data } = readTupleSet(kind === DATA ? bytes.subarray(start, end) : new Uint8Array(0));
      for (const { roots } of data?.tuples ?? []) keys.push(...roots.map(({ key }) => key));
      ring.release();
    }
    return keys;
  }

  #describe({ data, control }: HeronTupleSet): string[] {
    const tuples = (data?.tuples ?? []).map(({ values: [value = new Uint8Array(0)], roots }) => {
      const word = String(decodeValue(value, 0, value.length));
      return roots.length === 0 ? word : `${word}<${rootsText(roots)}>`;
    });
    const fails = control?.fails ?? [];
    this.reasons.push(...fails.flatMap(({ detail }) => (detail === undefined ? [] : [detail])));
    return [
      ...(data === undefined ? [] : [tuples.join(' ')]),
      ...(control === undefined ? [] : controlTexts(control)),
    ];
  }
}
