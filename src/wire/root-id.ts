import {
  FIXED64,
  tagOf,
  VARINT,
  VARINT32_BYTES_MAX,
  varintBytes,
  writeHalf,
  writeVarint,
} from './protobuf-cursor.ts';

/*
  A tree of tuples on the wire, in tuples and in acks; root-list.ts reads it.

    root => tag length RootId
    RootId => 0x08 taskid  0x11 key, 8 bytes, lowest first
*/

export const ROOT_TASK_TAG = tagOf(1, VARINT);
export const ROOT_KEY_TAG = tagOf(2, FIXED64);
/** The key with its tag. */
export const ROOT_KEY_BYTES = 1 + 8;
/** A root with its tag and length, at most. */
export const ROOT_BYTES_MAX = 2 + 1 + VARINT32_BYTES_MAX + ROOT_KEY_BYTES;

/** Bytes of a root with its tag and length, of a task whose varint takes so many. */
export function rootBytes(taskBytes: number): number {
  return 2 + 1 + taskBytes + ROOT_KEY_BYTES;
}

/** Writes a root behind its tag and length; returns the offset behind it. Hot. */
export function writeRoot(
  bytes: Uint8Array,
  at: number,
  tag: number,
  task: number,
  keyLow: number,
  keyHigh: number,
): number {
  bytes[at] = tag;
  bytes[at + 1] = 1 + varintBytes(task) + ROOT_KEY_BYTES;
  bytes[at + 2] = ROOT_TASK_TAG;
  const key = writeVarint(bytes, at + 3, task);
  bytes[key] = ROOT_KEY_TAG;
  writeHalf(bytes, key + 1, keyLow);
  writeHalf(bytes, key + 5, keyHigh);
  return key + ROOT_KEY_BYTES;
}
