/*
  The simulator's kernel: how many events a second, with 1, 100 and 10,000 threads.

    timers    each thread has a timer that starts the next one: the cost of an event
    promises  the same, and each event waits for two promises
    time-outs each event also starts and cancels a time-out, as every request does
    rounds    as `promises`, with a round of the real event loop after each event
    streams   each thread sends 100 bytes to the next one and waits for the answer

  Left out: whatever the engine's classes cost, which is nearly all of a real simulation.

  Run: node bench/simulation-kernel.ts
*/
import type { ByteStream, Network } from '../src/net/network.ts';
import { Kernel } from '../src/simulation/kernel/kernel.ts';
import { SimulatedNetwork } from '../src/simulation/kernel/simulated-network.ts';
import type { SimulatedThread } from '../src/simulation/kernel/simulated-thread.ts';

const THREADS = [1, 100, 10_000] as const;
const EVENTS = 300_000;
const ROUND_EVENTS = 30_000;
const ROUNDS = 3;
const MESSAGE = Buffer.alloc(100, 'x');

type Load = (thread: SimulatedThread, number: number) => void;

const timers: Load = ({ clock }, number) => {
  const fire = (): void => void clock.after(1 + (number % 7), fire);
  fire();
};

const promises: Load = ({ clock }, number) => {
  const fire = async (): Promise<void> => {
    await Promise.resolve();
    await Promise.resolve();
    clock.after(1 + (number % 7), () => void fire());
  };
  void fire();
};

const timeouts: Load = ({ clock }, number) => {
  let timeout = clock.after(30_000, () => {});
  const fire = (): void => {
    timeout.cancel();
    timeout = clock.after(30_000, () => {});
    clock.after(1 + (number % 7), fire);
  };
  fire();
};

/** Both sides of a conversation; each message is answered by another. */
function converse(stream: ByteStream): void {
  stream.start({ onData: () => stream.write([MESSAGE], () => {}), onClosed: () => {} });
}

function streams(kernel: Kernel, threads: readonly SimulatedThread[]): void {
  const network = new SimulatedNetwork(kernel);
  const ports = threads.map((thread): Network => network.portOf(thread, 'machine'));
  const meet = async (number: number): Promise<void> => {
    const address = { host: 'machine', port: 1 + number };
    await ports[number]?.listen(address, converse);
    threads[(number + 1) % threads.length]?.post(1, () => void talk(number, address.port));
  };
  const talk = async (number: number, port: number): Promise<void> => {
    const dialler = ports[(number + 1) % ports.length];
    const stream = await dialler?.connect({ host: 'machine', port });
    if (stream === undefined) return;
    converse(stream);
    stream.write([MESSAGE], () => {});
  };
  threads.forEach((thread, number) => thread.post(0, () => void meet(number)));
}

/** Events a second. */
async function measure(kernel: Kernel, events: number): Promise<number> {
  const limits = { simulatedMsMax: Number.POSITIVE_INFINITY, eventsMax: events };
  await kernel.run(() => false, { ...limits, eventsMax: events / 10 }); // Warms up.
  const startMs = performance.now();
  await kernel.run(() => false, limits);
  return (events / (performance.now() - startMs)) * 1000;
}

function aKernel(count: number, isSlow: boolean): readonly [Kernel, readonly SimulatedThread[]] {
  const kernel = new Kernel({ seed: 1, keepsLog: false, isSlow });
  return [kernel, Array.from({ length: count }, (_, n) => kernel.createThread(`thread-${n}`))];
}

async function report(
  name: string,
  prepare: (kernel: Kernel, threads: readonly SimulatedThread[]) => void,
  { isSlow = false, events = EVENTS } = {},
): Promise<void> {
  const columns: string[] = [];
  for (const count of THREADS) {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [kernel, threads] = aKernel(count, isSlow);
      prepare(kernel, threads);
      rates.push(await measure(kernel, events));
    }
    columns.push(`${(Math.max(...rates) / 1e6).toFixed(3)} M/s`.padStart(15));
  }
  console.log(`${name.padEnd(10)}${columns.join('')}`);
}

const each =
  (load: Load) =>
  (_kernel: Kernel, threads: readonly SimulatedThread[]): void =>
    threads.forEach((thread, number) => load(thread, number));

console.log(`events/s  ${THREADS.map((count) => `${count} threads`.padStart(15)).join('')}`);
await report('timers', each(timers));
await report('promises', each(promises));
await report('time-outs', each(timeouts));
await report('streams', streams);
await report('rounds', each(promises), { isSlow: true, events: ROUND_EVENTS });
