import { componentName, taskId } from '../base/ids.ts';
import type { FailKind, FailReason } from '../model/fail-reason.ts';
import { ACK_ROOT_TAG, ACKED_TUPLE_TAG, DETAIL_TAG, FAILS_TAG } from './ack-tuple-format.ts';
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
import { ROOT_BYTES_MAX, writeRoot } from './root-id.ts';
import { CONTROL_TAG, SOURCE_TASK_TAG } from './tuple-set-format.ts';

/*
  Why a tuple failed, from where it failed to its spout; stream managers pass the bytes on unread.

  FailDetail => kind  component?  task_id?  message?  stack?
    kind      0x08 number
    component 0x12 length text
    task_id   0x18 task
    message   0x22 length text
    stack     0x2a length text
*/

const KIND_TAG = tagOf(1, VARINT);
const COMPONENT_TAG = tagOf(2, BYTES);
const TASK_TAG = tagOf(3, VARINT);
const MESSAGE_TAG = tagOf(4, BYTES);
const STACK_TAG = tagOf(5, BYTES);

/** By number on the wire, from 1. */
const KINDS: readonly FailKind[] = [
  'time-out',
  'explicit',
  'thrown',
  'lost-instance',
  'lost-stream-manager',
  'dropped',
];

/** The trees of a tuple: a RootList, or whatever else has their numbers. */
export interface Roots {
  readonly count: number;
  task(index: number): number;
  keyLow(index: number): number;
  keyHigh(index: number): number;
}

/** The bytes of a FailDetail, its kind first. */
export function encodeFailDetail(reason: FailReason): Uint8Array {
  const { kind, component, task, error } = reason;
  const texts = [
    [COMPONENT_TAG, component],
    [MESSAGE_TAG, error?.message],
    [STACK_TAG, error?.stack],
  ] as const;
  const [place, message, stack] = texts.map(([tag, text]) => textField(tag, text));
  const ofTask = task === undefined ? NOTHING : varintField(TASK_TAG, task);
  const ofKind = varintField(KIND_TAG, KINDS.indexOf(kind) + 1);
  return Buffer.concat([ofKind, place ?? NOTHING, ofTask, message ?? NOTHING, stack ?? NOTHING]);
}

/**
 * Reads a range of bytes as FailDetail; an empty one is what Heron's own instances give: nothing.
 *
 * @throws EngineError PACKET_MALFORMED.
 */
export function decodeFailDetail(bytes: Uint8Array, start: number, end: number): FailReason {
  const cursor = new ProtobufCursor();
  cursor.begin(bytes, start, end);
  let kind: FailKind = 'explicit';
  let component: string | undefined;
  let task: number | undefined;
  let message: string | undefined;
  let stack: string | undefined;
  while (cursor.at < end) {
    const tag = cursor.readTag();
    if (tag === KIND_TAG) kind = kindOf(cursor.readWhole());
    else if (tag === COMPONENT_TAG) component = readText(cursor);
    else if (tag === TASK_TAG) task = cursor.readInt32();
    else if (tag === MESSAGE_TAG) message = readText(cursor);
    else if (tag === STACK_TAG) stack = readText(cursor);
    else cursor.skipUnknown(tag, 5);
  }
  const hasError = message !== undefined || stack !== undefined;
  return {
    kind,
    component: component === undefined ? undefined : componentName(component),
    task: task === undefined ? undefined : taskId(task),
    error: hasError ? { message: message ?? '', stack } : undefined,
  };
}

/** Of a FailDetail that this engine has written. */
export function failKindOf(detail: Uint8Array): FailKind {
  return KINDS[(detail[1] ?? 0) - 1] ?? 'explicit';
}

/**
 * A HeronTupleSet, which looks like a HeronTupleSet2, with one AckTuple under `fails`: the trees of
 * one tuple and why they failed. Its `ackedtuple` is 0: a fail needs no key.
 *
 *     0x12 length  0x12 length  root*  0x11 eight zeros  0xc2 0x3e length detail   0x18 src_task_id
 */
export function failSet(sourceTask: number, roots: Roots, detail: Uint8Array): Uint8Array {
  const fail = failField(roots, detail);
  const control = Buffer.concat([varintField(CONTROL_TAG, fail.length), fail]);
  return Buffer.concat([control, varintField(SOURCE_TASK_TAG, sourceTask)]);
}

/** One entry of HeronControlTupleSet, tag and length included; several may follow each other. */
export function failField(roots: Roots, detail: Uint8Array): Uint8Array {
  const ofDetail = detail.length === 0 ? NOTHING : bytesField(DETAIL_TAG, detail);
  const body = Buffer.concat([rootFields(roots), ZERO_KEY, ofDetail]);
  return bytesField(FAILS_TAG, body);
}

const NOTHING: Uint8Array = new Uint8Array(0);
const ZERO_KEY = Uint8Array.of(ACKED_TUPLE_TAG, 0, 0, 0, 0, 0, 0, 0, 0);

function rootFields(roots: Roots): Uint8Array {
  const bytes = Buffer.alloc(roots.count * ROOT_BYTES_MAX);
  let at = 0;
  for (let index = 0; index < roots.count; index += 1) {
    const [task, low, high] = [roots.task(index), roots.keyLow(index), roots.keyHigh(index)];
    at = writeRoot(bytes, at, ACK_ROOT_TAG, task, low, high);
  }
  return bytes.subarray(0, at);
}

function kindOf(value: number): FailKind {
  const kind = KINDS[value - 1];
  if (kind === undefined) throw malformed(`FailDetail has the unknown kind ${value}`);
  return kind;
}

function readText(cursor: ProtobufCursor): string {
  const length = cursor.readLength();
  const start = cursor.at;
  cursor.at += length;
  return utf8Text(cursor.bytes, start, cursor.at);
}

function textField(tag: number, text: string | undefined): Uint8Array {
  return text === undefined ? NOTHING : bytesField(tag, Buffer.from(text));
}

function bytesField(tag: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([varintField(tag, value.length), value]);
}

/** A tag and a number: a whole field, or the head of one with bytes. */
function varintField(tag: number, value: number): Uint8Array {
  const bytes = new Uint8Array(varintBytes(tag) + varintBytes(value));
  writeVarint(bytes, writeVarint(bytes, 0, tag), value);
  return bytes;
}
