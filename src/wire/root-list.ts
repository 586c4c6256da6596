import { malformed } from './malformed.ts';
import { halfAt, type ProtobufCursor } from './protobuf-cursor.ts';
import { ROOT_KEY_BYTES, ROOT_KEY_TAG, ROOT_TASK_TAG } from './root-id.ts';

/** Task, low half and high half of the key. */
const FIELDS = 3;

/**
 * The trees that a tuple or an ack belongs to, without an object for each. Filled again for every
 * tuple.
 *
 *   RootId => 0x08 taskid  0x11 key, 8 bytes, lowest first
 */
export class RootList {
  count = 0;
  #fields = new Int32Array(8 * FIELDS);

  /** The spout task that owns the tree. */
  task(index: number): number {
    return this.#fields[index * FIELDS] as number;
  }

  keyLow(index: number): number {
    return this.#fields[index * FIELDS + 1] as number;
  }

  keyHigh(index: number): number {
    return this.#fields[index * FIELDS + 2] as number;
  }

  clear(): void {
    this.count = 0;
  }

  /**
   * Adds a RootId that looks like almost all of them: task and key in this order, a task below
   * 2^14. Its length stands at `start`, and what it is part of ends at `end`. Returns the offset
   * behind it, or -1 for one that `read` has to read.
   */
  readUsual(bytes: Uint8Array, start: number, end: number): number {
    const length = bytes[start] as number;
    if (length >= end - start || bytes[start + 1] !== ROOT_TASK_TAG) return -1;
    let task = bytes[start + 2] as number;
    let keyAt = start + 3;
    if (task >= 0x80) {
      const upper = bytes[keyAt] as number;
      if (upper >= 0x80) return -1;
      task = (task & 0x7f) | (upper << 7);
      keyAt += 1;
    }
    const behind = start + 1 + length;
    if (bytes[keyAt] !== ROOT_KEY_TAG || keyAt + ROOT_KEY_BYTES !== behind) return -1;
    this.add(task, halfAt(bytes, keyAt + 1), halfAt(bytes, keyAt + 5));
    return behind;
  }

  /** Reads the RootId in front of which the cursor stands, its length first, and adds it. */
  read(cursor: ProtobufCursor): void {
    const length = cursor.readLength();
    const end = cursor.at + length;
    const outerEnd = cursor.end;
    cursor.end = end;
    let task = 0;
    let low = 0;
    let high = 0;
    let found = 0;
    while (cursor.at < end) {
      const tag = cursor.readTag();
      if (tag === ROOT_TASK_TAG) {
        task = cursor.readInt32();
        found |= 1;
      } else if (tag === ROOT_KEY_TAG) {
        low = cursor.readHalf();
        high = cursor.readHalf();
        found |= 2;
      } else cursor.skipUnknown(tag, 2);
    }
    cursor.end = outerEnd;
    if (found !== 3) throw malformed('RootId lacks its taskid or its key');
    if (task < 0) throw malformed(`RootId names the task ${task}`);
    this.add(task, low, high);
  }

  add(task: number, low: number, high: number): void {
    const at = this.count * FIELDS;
    if (at === this.#fields.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#fields);
      this.#fields = larger;
    }
    this.#fields[at] = task;
    this.#fields[at + 1] = low;
    this.#fields[at + 2] = high;
    this.count += 1;
  }
}
