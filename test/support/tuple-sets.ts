import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { componentName, streamName } from '../../src/base/ids.ts';
import type { ConsumerGrouping } from '../../src/routing/consumer-grouping.ts';
import { Destinations } from '../../src/routing/destinations.ts';
import {
  HeronTupleSetSchema,
  type HeronControlTupleSet,
  type HeronTupleSet,
  type RootId,
} from '../../src/wire/generated/tuple_pb.js';
import { StreamHeaders } from '../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../src/wire/tuple-set-reader.ts';
import { encodeValue } from '../../src/wire/values.ts';

/* Tuple sets for tests, made and read by the generated codec, which knows nothing of ours. */

export interface TestTuple {
  readonly values: readonly Uint8Array[];
  readonly destinations?: readonly number[];
  /** As a stream manager gives it to a copy; 0 unless set. */
  readonly key?: bigint;
  readonly roots?: readonly { readonly task: number; readonly key: bigint }[];
}

export interface TestSet {
  readonly task: number;
  readonly component?: string;
  readonly stream?: string;
  readonly tuples?: readonly TestTuple[];
  readonly endOfInput?: boolean;
  readonly consumedBytes?: number;
}

/** The bytes of one value, as an instance of this engine writes it. */
export function valueBytes(value: unknown): Uint8Array {
  const into = new Uint8Array(64 * 1024);
  return into.slice(0, encodeValue(value, into, 0, into.length));
}

/** A tuple of values of this engine. */
export function aTuple(...values: readonly unknown[]): TestTuple {
  return { values: values.map(valueBytes) };
}

export function tupleSetBytes(set: TestSet): Uint8Array {
  const { task, component = 'word', stream = 'default', tuples } = set;
  const message = create(HeronTupleSetSchema, {
    srcTaskId: task,
    ...(tuples && {
      data: {
        stream: { id: stream, componentName: component },
        tuples: tuples.map(({ values, destinations = [], key = 0n, roots = [] }) => ({
          key,
          roots: roots.map((root) => ({ taskid: root.task, key: root.key })),
          values: [...values],
          destTaskIds: [...destinations],
        })),
      },
    }),
    ...(set.endOfInput && { endOfInput: true }),
    ...(set.consumedBytes !== undefined && { consumedBytes: BigInt(set.consumedBytes) }),
  });
  return toBinary(HeronTupleSetSchema, message);
}

/** HeronTupleSet and HeronTupleSet2 have the same bytes. */
export function readTupleSet(bytes: Uint8Array): HeronTupleSet {
  return fromBinary(HeronTupleSetSchema, bytes);
}

/** `ack 1:5=7`: root 5 of task 1, tuple keys XORed to 7; `fail 1:5`. */
export function controlTexts({ acks, fails }: HeronControlTupleSet): readonly string[] {
  return [
    ...acks.map(({ roots, ackedtuple }) => {
      return `ack ${rootsText(roots)}=${BigInt.asUintN(32, ackedtuple)}`;
    }),
    ...fails.map(({ roots }) => `fail ${rootsText(roots)}`),
  ];
}

/** Low halves: the high half of a spout's own keys is random. */
export function rootsText(roots: readonly RootId[]): string {
  return roots.map(({ taskid, key }) => `${taskid}:${BigInt.asUintN(32, key)}`).join(',');
}

/** A reader that stands on the first tuple of a set. */
export function openTuple(tuple: TestTuple): TupleSetReader {
  const bytes = tupleSetBytes({ task: 1, tuples: [tuple] });
  const reader = new TupleSetReader(new StreamHeaders());
  reader.open(bytes, 0, bytes.length);
  reader.next();
  return reader;
}

/** Where `count` tuples of one word go, all in one list. */
export function destinationsOf(grouping: ConsumerGrouping, count: number): number[] {
  const tuple = openTuple(aTuple('word'));
  const into = new Destinations();
  for (let index = 0; index < count; index += 1) grouping.addDestinations(tuple, into);
  return [...into.tasks.subarray(0, into.count)];
}

/** A stream's header, the same object for the same names. */
export function headerOf(component: string, stream = 'default') {
  return headers.of(componentName(component), streamName(stream));
}

const headers = new StreamHeaders();
