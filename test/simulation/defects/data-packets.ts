import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  TupleStreamMessageSchema,
  type TupleStreamMessage,
} from '../../../src/wire/generated/stmgr_pb.js';
import { HeronTupleSetSchema, type HeronTupleSet } from '../../../src/wire/generated/tuple_pb.js';
import { TUPLE_SET_TYPE } from '../../../src/wire/tuple-set-format.ts';
import { TUPLE_STREAM_TYPE } from '../../../src/wire/tuple-stream-message.ts';
import type { LoosePacket } from './tampered-network.ts';

/* What is in packets of data, read and written by generated code. */

/** What a stream manager sends to another. Undefined for other packets. */
function streamMessageOf({ typeName, payload }: LoosePacket): TupleStreamMessage | undefined {
  return typeName === TUPLE_STREAM_TYPE ? fromBinary(TupleStreamMessageSchema, payload) : undefined;
}

export function carriesTuples(packet: LoosePacket): boolean {
  return (streamMessageOf(packet)?.numTuples ?? 0) > 0;
}

export function carriesGrant(packet: LoosePacket): boolean {
  return (streamMessageOf(packet)?.grantedBytes ?? 0n) > 0n;
}

/** "Nothing more comes from this task." */
export function carriesMarker(packet: LoosePacket): boolean {
  const message = streamMessageOf(packet);
  return message !== undefined && message.numTuples === 0 && (message.grantedBytes ?? 0n) === 0n;
}

/** What an instance sends to its stream manager. Undefined for other packets. */
export function tupleSetOf({ typeName, payload }: LoosePacket): HeronTupleSet | undefined {
  return typeName === TUPLE_SET_TYPE ? fromBinary(HeronTupleSetSchema, payload) : undefined;
}

export function withTupleSet(packet: LoosePacket, set: HeronTupleSet): LoosePacket {
  return { ...packet, payload: toBinary(HeronTupleSetSchema, set) };
}
