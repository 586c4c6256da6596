/*
  What the account of one tuple tree costs a stream manager: made, one ack that leaves it open, one
  that completes it. Roots as this engine's spouts make them (ascending) and at random (others), in
  steady states of several sizes, then ten million at once: time, bytes, and the longest single
  call. One core; medians of this thread's processor time.
  Aims: at most 48 bytes a tree at half load; ten million live trees.

  Run: node bench/ledger.ts
*/

import { createSeededRandom } from '../src/base/random.ts';
import { EdgeKeys } from '../src/stream-manager/edge-keys.ts';
import { TreeTable } from '../src/stream-manager/tree-table.ts';

const OPERATIONS = 500_000;
const ROUNDS = 5;
const MANY = 10_000_000;

function micros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

for (const isRandom of [false, true]) {
  for (const live of [1_000, 20_000, 100_000, 1_000_000]) steady(live, isRandom);
}
fill(MANY);

/** `live` trees, of which the oldest is acked twice and a new one made, again and again. */
function steady(live: number, isRandom: boolean): void {
  const table = new TreeTable();
  const keys = new EdgeKeys(createSeededRandom(1));
  const roots = new Int32Array(live * 2);
  const values = new Int32Array(live * 2);
  let next = 0;
  const create = (at: number): void => {
    keys.next();
    const rootLow = isRandom ? keys.low : next;
    const rootHigh = isRandom ? keys.high : 12_345;
    roots[at] = rootLow;
    roots[at + 1] = rootHigh;
    next += 1;
    keys.next();
    values[at] = keys.low;
    values[at + 1] = keys.high;
    table.create(rootLow, rootHigh, keys.low, keys.high, 1);
  };
  for (let index = 0; index < live; index += 1) create(index * 2);
  const bytes = table.byteLength / live;
  let complete = 0;
  const round = (): number => {
    const start = micros();
    for (let operation = 0; operation < OPERATIONS; operation += 1) {
      const at = (operation % live) * 2;
      const low = roots[at] as number;
      const high = roots[at + 1] as number;
      keys.next();
      table.settle(low, high, keys.low, keys.high);
      const valueLow = (values[at] as number) ^ keys.low;
      complete += table.settle(low, high, valueLow, (values[at + 1] as number) ^ keys.high);
      create(at);
    }
    return ((micros() - start) * 1_000) / OPERATIONS;
  };
  round();
  const times = Array.from({ length: ROUNDS }, round).toSorted((a, b) => a - b);
  const median = (times[ROUNDS >> 1] ?? Number.NaN).toFixed(0);
  const kind = isRandom ? 'random' : 'ascending';
  const name = `${live} live trees, ${kind} roots`;
  console.log(`${name.padEnd(36)} ${median} ns a tree, ${bytes.toFixed(0)} bytes a tree`);
  if (complete !== OPERATIONS * (ROUNDS + 1)) throw new Error('some tree was not complete');
}

function fill(count: number): void {
  const table = new TreeTable();
  const before = process.memoryUsage.rss();
  let longestMs = 0;
  const start = micros();
  for (let low = 0; low < count; low += 1_000) {
    const from = micros();
    for (let index = low; index < low + 1_000; index += 1) table.create(index, 7, index + 1, 9, 1);
    longestMs = Math.max(longestMs, (micros() - from) / 1_000);
  }
  const perTree = ((micros() - start) * 1_000) / count;
  const bytes = table.byteLength / count;
  const rss = (process.memoryUsage.rss() - before) / count;
  console.log(
    `${count} live trees made: ${perTree.toFixed(0)} ns a tree, ${bytes.toFixed(1)} bytes a tree ` +
      `(${rss.toFixed(1)} of resident memory), longest thousand ${longestMs.toFixed(1)} ms`,
  );
  let complete = 0;
  const settling = micros();
  for (let index = 0; index < count; index += 1) complete += table.settle(index, 7, index + 1, 9);
  const settled = ((micros() - settling) * 1_000) / count;
  if (complete !== count || table.count !== 0) throw new Error('some tree was not complete');
  console.log(`${count} live trees acked: ${settled.toFixed(0)} ns a tree`);
}
