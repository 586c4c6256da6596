import { malformed } from './malformed.ts';
import { utf8Text } from './native-text.ts';
import {
  BYTES,
  ProtobufCursor,
  tagOf,
  VARINT,
  varintBytes,
  writeVarint,
} from './protobuf-cursor.ts';
import { SOURCE_TASK_TAG } from './tuple-set-format.ts';

/*
  A stream manager tells a spout instance of this engine to hold, or to go on. The notice is a field
  of a HeronTupleSet2 without data:

  HeronTupleSet2  => src_task_id  back_pressure
    src_task_id   => 0x18 the spout's task
    back_pressure => 0xda 0x3e length  is_held  component?  stmgr?
      is_held     => 0x08 0 or 1
      component   => 0x12 length text
      stmgr       => 0x1a length text
*/

/** Of a HeronTupleSet2: its `back_pressure`. */
export const BACK_PRESSURE_TAG = tagOf(1003, BYTES);

const IS_HELD_TAG = tagOf(1, VARINT);
const COMPONENT_TAG = tagOf(2, BYTES);
const STREAM_MANAGER_TAG = tagOf(3, BYTES);
const FIELDS = 3;

/** Whether a spout has to hold, and for whom. */
export interface BackPressureNotice {
  readonly isHeld: boolean;
  /** The slow component, while held; undefined where nobody can say. */
  readonly component: string | undefined;
  /** The stream manager that asked for it. */
  readonly streamManager: string | undefined;
}

/** A whole HeronTupleSet2 with the notice, for a spout's task. */
export function backPressureSet(task: number, notice: BackPressureNotice): Uint8Array {
  const { isHeld, component, streamManager } = notice;
  const fields = [
    Buffer.from([IS_HELD_TAG, isHeld ? 1 : 0]),
    ...textField(COMPONENT_TAG, component),
    ...textField(STREAM_MANAGER_TAG, streamManager),
  ];
  const length = fields.reduce((sum, field) => sum + field.length, 0);
  const head = Buffer.alloc(
    1 + varintBytes(task) + varintBytes(BACK_PRESSURE_TAG) + varintBytes(length),
  );
  head[0] = SOURCE_TASK_TAG;
  const at = writeVarint(head, writeVarint(head, 1, task), BACK_PRESSURE_TAG);
  writeVarint(head, at, length);
  return Buffer.concat([head, ...fields]);
}

/** Reads the field's content, which lies between `start` and `end`. Throws PACKET_MALFORMED. */
export function readBackPressureNotice(
  bytes: Uint8Array,
  start: number,
  end: number,
): BackPressureNotice {
  const cursor = new ProtobufCursor();
  cursor.begin(bytes, start, end);
  let isHeld: boolean | undefined;
  let component: string | undefined;
  let streamManager: string | undefined;
  while (cursor.at < end) {
    const tag = cursor.readTag();
    if (tag === IS_HELD_TAG) isHeld = cursor.readBool();
    else if (tag === COMPONENT_TAG) component = readText(cursor);
    else if (tag === STREAM_MANAGER_TAG) streamManager = readText(cursor);
    else cursor.skipUnknown(tag, FIELDS);
  }
  if (isHeld === undefined) throw malformed('BackPressure lacks its is_held');
  return { isHeld, component, streamManager };
}

function textField(tag: number, text: string | undefined): readonly Uint8Array[] {
  if (text === undefined) return [];
  const bytes = Buffer.from(text, 'utf8');
  const head = Buffer.alloc(1 + varintBytes(bytes.length));
  head[0] = tag;
  writeVarint(head, 1, bytes.length);
  return [head, bytes];
}

function readText(cursor: ProtobufCursor): string {
  const length = cursor.readLength();
  const start = cursor.at;
  cursor.at += length;
  return utf8Text(cursor.bytes, start, cursor.at);
}
