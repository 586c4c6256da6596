/*
  What a tuple costs the two task threads of an instance: to emit it (encoded into the ring), and to
  execute it (read, decoded, handed to the bolt). The real runners and a real ring, both ends in
  this one thread, in turn. `transport` adds up the lengths of the words, `count` keeps a Map.

  With acks each word is a message of its own: to emit it includes that it becomes pending, to
  execute it that it is acked, and to settle it is to read its ack and to call `ack` of the spout.

  Left out: gateways, sockets and the stream manager; and the cache that two threads would share.
  Nanoseconds of this thread's processor time, medians of many rounds.

      npm run bench -- task [distinct words]
*/

import { Count, Transport } from './job.ts';
import { TaskPair } from './task-pair.ts';

const TUPLES_A_ROUND = 50_000;
const ROUNDS = 60;
/** The compiler has seen everything by then. */
const WARM_UP_ROUNDS = 20;

const distinctWords = Number(process.argv[2] ?? 10_000);

for (const hasAcks of [false, true]) {
  for (const bolt of [new Transport(), new Count()]) await measure(bolt, hasAcks);
}

async function measure(bolt: Transport | Count, hasAcks: boolean): Promise<void> {
  const pair = await TaskPair.open(bolt, { distinctWords, hasAcks });
  const emits: number[] = [];
  const executes: number[] = [];
  const settles: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const emit = cpuNanoseconds(() => pair.emit(TUPLES_A_ROUND));
    const execute = await cpuNanosecondsOf(() => pair.execute());
    const settle = hasAcks ? await cpuNanosecondsOf(() => pair.settle()) : 0;
    if (round < WARM_UP_ROUNDS) continue;
    emits.push(emit / TUPLES_A_ROUND);
    executes.push(execute / TUPLES_A_ROUND);
    settles.push(settle / TUPLES_A_ROUND);
  }
  await pair.close();
  const name = `${bolt.constructor.name.padEnd(10)} ${hasAcks ? 'with acks' : 'no acks  '}`;
  const settled = hasAcks ? `, settle ${median(settles)} ns` : '';
  console.log(`${name} emit ${median(emits)} ns, execute ${median(executes)} ns${settled}`);
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

function median(values: number[]): string {
  values.sort((one, other) => one - other);
  return (values[values.length >> 1] ?? Number.NaN).toFixed(0).padStart(4);
}
