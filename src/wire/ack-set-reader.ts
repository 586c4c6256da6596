import { ACK_ROOT_TAG, ACKED_TUPLE_TAG, DETAIL_TAG, EMITS_TAG } from './ack-tuple-format.ts';
import { malformed } from './malformed.ts';
import { BYTES, ProtobufCursor } from './protobuf-cursor.ts';
import { RootList } from './root-list.ts';

/** What happened to a tuple; `emit` goes between stream managers only. */
export type AckKind = 'ack' | 'fail' | 'emit';

/** By field number of HeronControlTupleSet. */
const KINDS: readonly (AckKind | undefined)[] = [undefined, 'ack', 'fail', 'emit'];

/**
 * Walks through a HeronControlTupleSet; `TupleSetReader` says where it is.
 *
 *   control  => ack*  fail*  emit*       0x0a, 0x12, 0x1a; each: length AckTuple
 *   AckTuple => root*  ackedtuple  detail?
 *     root       => 0x0a length RootId
 *     ackedtuple => 0x11 and 8 bytes, lowest first
 *     detail     => 0xc2 0x3e length FailDetail        of a fail only; fail-detail.ts
 */
export class AckSetReader {
  kind: AckKind = 'ack';
  /** Key of the tuple that was acked, failed or emitted. */
  keyLow = 0;
  keyHigh = 0;
  /** Where the FailDetail is, tag and length left out; both 0 when there is none. */
  detailStart = 0;
  detailEnd = 0;
  readonly roots = new RootList();
  readonly #cursor = new ProtobufCursor();
  #end = 0;

  /** What was given to `open`. */
  get bytes(): Uint8Array {
    return this.#cursor.bytes;
  }

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#cursor.begin(bytes, start, end);
    this.#end = end;
  }

  /**
   * Whether the set at hand holds emits, which have to be heard before its acks and stand behind
   * them. Passes over the entries without reading them, and stays where it is.
   */
  hasEmits(): boolean {
    const cursor = this.#cursor;
    const { at } = cursor;
    let isFound = false;
    while (cursor.at < this.#end && !isFound) {
      const tag = cursor.readTag();
      isFound = tag === EMITS_TAG;
      cursor.skipUnknown(tag, 0);
    }
    cursor.at = at;
    return isFound;
  }

  /** Moves to the next entry; false when there is none. Throws PACKET_MALFORMED. */
  next(): boolean {
    const cursor = this.#cursor;
    while (cursor.at < this.#end) {
      const tag = cursor.readTag();
      const kind = (tag & 7) === BYTES ? KINDS[tag >>> 3] : undefined;
      if (kind !== undefined) {
        this.kind = kind;
        this.#readAck();
        return true;
      }
      cursor.skipUnknown(tag, 3);
    }
    return false;
  }

  #readAck(): void {
    const cursor = this.#cursor;
    const length = cursor.readLength();
    cursor.end = cursor.at + length;
    this.roots.clear();
    this.detailStart = 0;
    this.detailEnd = 0;
    let hasKey = false;
    while (cursor.at < cursor.end) {
      const tag = cursor.readTag();
      if (tag === ACKED_TUPLE_TAG) {
        this.keyLow = cursor.readHalf();
        this.keyHigh = cursor.readHalf();
        hasKey = true;
      } else if (tag === ACK_ROOT_TAG) this.#readRoot();
      else if (tag === DETAIL_TAG) this.#passDetail();
      else cursor.skipUnknown(tag, 2);
    }
    cursor.end = this.#end;
    if (!hasKey) throw malformed('AckTuple lacks its ackedtuple');
  }

  #readRoot(): void {
    const cursor = this.#cursor;
    const behind = this.roots.readUsual(cursor.bytes, cursor.at, cursor.end);
    if (behind < 0) this.roots.read(cursor);
    else cursor.at = behind;
  }

  #passDetail(): void {
    const cursor = this.#cursor;
    const length = cursor.readLength();
    this.detailStart = cursor.at;
    cursor.at += length;
    this.detailEnd = cursor.at;
  }
}
