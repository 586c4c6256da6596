/*
  What a tuple costs the two task threads of an instance: to emit it (encoded into the ring), and to
  execute it (read, decoded, handed to the bolt). The real runners and a real ring, both ends in
  this one thread, in turn. `transport` adds up the lengths of the words, `count` keeps a Map.

  With acks each word is a message of its own: to emit it includes that it becomes pending, to
  execute it that it is acked, and to settle it is to read its ack and to call `ack` of the spout.

  Left out: gateways, sockets and the stream manager; and the cache that two threads would share.
  Nanoseconds of this thread's processor time, medians of many rounds, of which every other one is
  of a pair without `topology.metrics.histograms`.

      npm run bench -- task [distinct words] [histograms-first]
*/

import { Count, Transport } from './job.ts';
import { TaskPair } from './task-pair.ts';

const TUPLES_A_ROUND = 50_000;
const ROUNDS = 80;
/** The compiler has seen everything by then. */
const WARM_UP_ROUNDS = 20;

const distinctWords = Number(process.argv[2] ?? 10_000);
/** What is made first lies elsewhere, which can cost more than histograms do: run it both ways. */
const order = process.argv[3] === 'histograms-first' ? [true, false] : [false, true];

for (const hasAcks of [false, true]) {
  for (const Bolt of [Transport, Count]) await compare(Bolt, hasAcks);
}

interface Samples {
  readonly pair: TaskPair;
  readonly emits: number[];
  readonly executes: number[];
  readonly settles: number[];
}

/** With and without histograms of latencies, round by round: what disturbs one disturbs both. */
async function compare(Bolt: typeof Transport | typeof Count, hasAcks: boolean): Promise<void> {
  const all: [string, Samples][] = [];
  for (const hasHistograms of order) {
    const pair = await TaskPair.open(new Bolt(), { distinctWords, hasAcks, hasHistograms });
    const samples = { pair, emits: [], executes: [], settles: [] };
    all.push([hasHistograms ? 'histograms' : 'means only', samples]);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [, samples] of round % 2 === 0 ? all : all.toReversed()) {
      await measure(samples, hasAcks, round >= WARM_UP_ROUNDS);
    }
  }
  for (const [name, { pair, emits, executes, settles }] of all) {
    await pair.close();
    const what = `${Bolt.name.padEnd(10)} ${hasAcks ? 'with acks' : 'no acks  '} ${name}`;
    const settled = hasAcks ? `, settle ${median(settles)} ns` : '';
    console.log(`${what} emit ${median(emits)} ns, execute ${median(executes)} ns${settled}`);
  }
  const [one, other] = all.toSorted(([name]) => (name === 'histograms' ? -1 : 1));
  if (one === undefined || other === undefined) return;
  const cost = (of: 'executes' | 'settles'): string => costOf(one[1][of], other[1][of]);
  const settleCost = hasAcks ? `, settle ${cost('settles')} %` : '';
  console.log(`  histograms cost execute ${cost('executes')} %${settleCost}`);
}

/** In per cent, by the median of the ratios of neighbouring rounds. */
function costOf(on: readonly number[], off: readonly number[]): string {
  const ratios = on.map((value, round) => value / (off[round] ?? Number.NaN));
  ratios.sort((one, other) => one - other);
  return (((ratios[ratios.length >> 1] ?? Number.NaN) - 1) * 100).toFixed(1);
}

async function measure(samples: Samples, hasAcks: boolean, isKept: boolean): Promise<void> {
  const { pair, emits, executes, settles } = samples;
  const emit = cpuNanoseconds(() => pair.emit(TUPLES_A_ROUND));
  const execute = await cpuNanosecondsOf(() => pair.execute());
  const settle = hasAcks ? await cpuNanosecondsOf(() => pair.settle()) : 0;
  if (!isKept) return;
  emits.push(emit / TUPLES_A_ROUND);
  executes.push(execute / TUPLES_A_ROUND);
  settles.push(settle / TUPLES_A_ROUND);
}

function cpuNanoseconds(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) * 1_000;
}

async function cpuNanosecondsOf(run: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) * 1_000;
}

function median(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[sorted.length >> 1] ?? Number.NaN).toFixed(0).padStart(4);
}
