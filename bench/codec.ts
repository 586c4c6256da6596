/*
  Nanoseconds per tuple of the data plane's codecs, on the word-count tuple: one short word, and a
  word with a number. One thread, data in the cache, no sockets, no rings, no user code: what a core
  can do at most. Medians of several rounds of this thread's processor time.

  Run: node bench/codec.ts
*/
import { componentName, streamName } from '../src/base/ids.ts';
import { hashGroupingKey } from '../src/wire/grouping-key.ts';
import { hashModulo } from '../src/wire/libstdcpp-hash.ts';
import { StreamHeaders } from '../src/wire/stream-header.ts';
import { TupleSetReader } from '../src/wire/tuple-set-reader.ts';
import { TupleSetWriter } from '../src/wire/tuple-set-writer.ts';
import { ValueReader } from '../src/wire/value-reader.ts';

const SET_BYTES = 32 * 1024;
const TUPLES = 1_000_000;
const ROUNDS = 7;
const DESTINATIONS = 8;

const words = Array.from(
  { length: 10_000 },
  (_, index) => `word${((index * 2_654_435_761) % 1_000_003).toString(36)}`,
);
const oneWord = words.map((word) => [word]);
const wordAndCount = words.map((word, index) => [word, index * 7]);
const longText = words.map((word) => [word.repeat(10)]);
const objects = words.map((word, index) => [{ word, count: index }]);

const streams = new StreamHeaders();
const header = streams.of(componentName('split'), streamName('default'));
const writer = new TupleSetWriter();
const reader = new TupleSetReader(streams);
const values = new ValueReader();
const region = Buffer.alloc(SET_BYTES);
/** Takes results in, so that nothing is left out as useless. */
let sink = 0;

function encode(tuples: readonly (readonly unknown[])[], count: number): void {
  writer.begin(region, 0, region.length, header, 1);
  for (let index = 0; index < count; index += 1) {
    const tuple = tuples[index % tuples.length] as readonly unknown[];
    if (writer.addTuple(tuple)) continue;
    writer.finish();
    sink += writer.end;
    writer.begin(region, 0, region.length, header, 1);
    writer.addTuple(tuple);
  }
  writer.finish();
}

/** One full set to read again and again. */
function fullSet(tuples: readonly (readonly unknown[])[]): Uint8Array {
  writer.begin(region, 0, region.length, header, 1);
  for (let index = 0; writer.addTuple(tuples[index % tuples.length] as unknown[]); ) index += 1;
  writer.finish();
  return Buffer.from(region.subarray(writer.start, writer.end));
}

function forEachTuple(set: Uint8Array, count: number, visit: () => void): void {
  for (let seen = 0; seen < count; ) {
    reader.open(set, 0, set.length);
    values.begin(set, 0, set.length);
    for (; reader.next(); seen += 1) visit();
  }
}

const lanes = Array.from({ length: DESTINATIONS }, () => ({
  bytes: Buffer.alloc(SET_BYTES),
  at: 0,
}));

/** What a stream manager does with a tuple: hash the key, copy the bytes to the task's batch. */
function route(): void {
  const { bytes } = reader;
  const hash = hashGroupingKey(bytes, reader.valueStart(0), reader.valueEnd(0));
  const lane = lanes[(hash >>> 0) % DESTINATIONS] as (typeof lanes)[number];
  const { tupleStart, tupleEnd } = reader;
  if (lane.at + tupleEnd - tupleStart > SET_BYTES) lane.at = 0;
  for (let from = tupleStart; from < tupleEnd; from += 1) {
    lane.bytes[lane.at] = bytes[from] as number;
    lane.at += 1;
  }
}

function decodeAll(): void {
  for (let index = 0; index < reader.valueCount; index += 1) {
    const value = values.read(reader.valueStart(index), reader.valueEnd(index));
    if (typeof value === 'string') sink += value.length;
  }
}

function hashWith(hash: typeof hashGroupingKey): () => void {
  return () => {
    sink += hash(reader.bytes, reader.valueStart(0), reader.valueEnd(0)) & 1;
  };
}

function measure(name: string, tuples: number, run: (tuples: number) => void): void {
  run(tuples / 4);
  const nanoseconds = Array.from({ length: ROUNDS }, () => {
    const before = process.threadCpuUsage();
    run(tuples);
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) * 1000) / tuples;
  }).toSorted((left, right) => left - right);
  const median = nanoseconds[ROUNDS >> 1] ?? 0;
  console.log(`${name.padEnd(44)} ${median.toFixed(1).padStart(8)} ns a tuple`);
}

const kinds = [
  ['one word', oneWord, TUPLES],
  ['word and number', wordAndCount, TUPLES],
  ['text of about 80 characters', longText, TUPLES / 2],
  ['object (msgpackr)', objects, TUPLES / 10],
] as const;

for (const [name, tuples, count] of kinds) {
  measure(`encode, ${name}`, count, (total) => encode(tuples, total));
  const set = fullSet(tuples);
  measure(`walk, ${name}`, count, (total) => forEachTuple(set, total, () => {}));
  measure(`decode, ${name}`, count, (total) => forEachTuple(set, total, decodeAll));
}
const set = fullSet(oneWord);
measure('route-copy to 8 tasks, one word', TUPLES, (total) => forEachTuple(set, total, route));
const keyHash = hashWith(hashGroupingKey);
measure('hash for key groups, one word', TUPLES, (total) => forEachTuple(set, total, keyHash));
const heronHash = hashWith(hashModulo);
measure("hash by Heron's rule, one word", TUPLES, (total) => forEachTuple(set, total, heronHash));
console.log(`(${sink % 10})`);
