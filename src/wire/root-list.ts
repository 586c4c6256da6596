import { malformed } from './malformed.ts';
import { FIXED64, type ProtobufCursor, tagOf, VARINT } from './protobuf-cursor.ts';

const TASK_TAG = tagOf(1, VARINT);
const KEY_TAG = tagOf(2, FIXED64);

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
      if (tag === TASK_TAG) {
        task = cursor.readInt32();
        found |= 1;
      } else if (tag === KEY_TAG) {
        low = cursor.readHalf();
        high = cursor.readHalf();
        found |= 2;
      } else cursor.skipUnknown(tag, 2);
    }
    cursor.end = outerEnd;
    if (found !== 3) throw malformed('RootId lacks its taskid or its key');
    this.#add(task, low, high);
  }

  #add(task: number, low: number, high: number): void {
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
