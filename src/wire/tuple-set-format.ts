import { BYTES, FIXED64, tagOf, VARINT, VARINT32_BYTES_MAX } from './protobuf-cursor.ts';

/*
  The tuple sets, in the order of their bytes. Both sides write fields in ascending order.

  HeronTupleSet  => data?  control?  src_task_id  end_of_input?  consumed_bytes?  granted_bytes?
                    plan_epoch?
    data         => 0x0a length  stream  tuple*
      stream     => 0x0a length StreamId                 stream-header.ts
      tuple      => 0x12 length  key  root*  value*  destination*  trace?
        key         => 0x09 and 8 bytes, lowest first; 0 from an instance
        root        => 0x12 length RootId                root-list.ts
        value       => 0x1a length and that many bytes
        destination => 0x20 task id
        trace       => 0xc2 0x3e length and that many bytes      trace-context.ts
    control      => 0x12 length  ack*  fail*  emit*      ack-set-reader.ts
    src_task_id  => 0x18 task id

  HeronTupleSet2 has the same bytes; only its name in the packet differs.
*/

/** Instance → stream manager. */
export const TUPLE_SET_TYPE = 'heron.proto.system.HeronTupleSet';
/** Stream manager → instance, and inside TupleStreamMessage. */
export const TUPLE_SET_2_TYPE = 'heron.proto.system.HeronTupleSet2';

export const DATA_TAG = tagOf(1, BYTES);
export const CONTROL_TAG = tagOf(2, BYTES);
export const SOURCE_TASK_TAG = tagOf(3, VARINT);
export const END_OF_INPUT_TAG = tagOf(1000, VARINT);
export const CONSUMED_BYTES_TAG = tagOf(1001, VARINT);
export const GRANTED_BYTES_TAG = tagOf(1002, VARINT);
export const PLAN_EPOCH_TAG = tagOf(1004, VARINT);

export const STREAM_TAG = tagOf(1, BYTES);
export const TUPLE_TAG = tagOf(2, BYTES);

export const KEY_TAG = tagOf(1, FIXED64);
export const ROOT_TAG = tagOf(2, BYTES);
export const VALUE_TAG = tagOf(3, BYTES);
export const DESTINATION_TAG = tagOf(4, VARINT);
/** Repeated numbers may also come in one run of bytes; Heron never writes them so. */
export const PACKED_DESTINATIONS_TAG = tagOf(4, BYTES);

/** Of a sampled tuple only. */
export const TRACE_TAG = tagOf(1000, BYTES);

export const KEY_BYTES = 1 + 8;

/** Data tag and length: what a set has in front of its stream header, at most. */
export const SET_HEAD_BYTES_MAX = 1 + VARINT32_BYTES_MAX;
/** Source task tag and id: what a set has behind its tuples, at most. */
export const SET_TAIL_BYTES_MAX = 1 + VARINT32_BYTES_MAX;
