import { strict as assert } from 'node:assert';
import type { Files } from '../../src/base/files.ts';
import { SimulatedCluster } from '../../src/simulation/cluster/simulated-cluster.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import type { TrafficEvent } from '../../src/simulation/kernel/simulated-network.ts';
import type { Measurements } from './measurement.ts';
import { INSTANCES_PER_CONTAINER, type SizedTopology } from './sized-topology.ts';

/*
  A whole topology on one simulated machine: every class is the real one, and each container has an
  address of its own. Simulated time knows latencies and what it takes to start a process, but not
  what computing costs; CPU time is that of this process, for all simulated ones together.
*/

const LIMITS = { simulatedMsMax: 600_000, eventsMax: Number.POSITIVE_INFINITY };
const STEADY_MS = 10_000;
const KINDS = ['scheduler', 'executor', 'stream manager', 'instance', 'other'] as const;
type Kind = (typeof KINDS)[number];

const LIMIT_OF_RINGS = 65_536;

export class WholeCluster {
  readonly #sized: SizedTopology;
  readonly #measurements: Measurements;
  readonly #kernel = new Kernel({ seed: 1, keepsLog: false });
  readonly #cluster: SimulatedCluster;
  /** Of the state tree and of the folders of containers, since the last `#forgetFiles`. */
  readonly #files = new Map<Kind, { operations: number; bytes: number }>();
  #planAtMs = 0;
  #meshAtMs = 0;
  #openAtMs = 0;
  #open = 0;
  #masterMessages = 0;
  #masterBytes = 0;

  static async measure(sized: SizedTopology, measurements: Measurements): Promise<void> {
    const bench = new WholeCluster(sized, measurements);
    const cpuBefore = process.cpuUsage();
    await bench.#start();
    bench.#noteStart(cpuBefore);
    await bench.#steady();
  }

  private constructor(sized: SizedTopology, measurements: Measurements) {
    this.#sized = sized;
    this.#measurements = measurements;
    this.#cluster = new SimulatedCluster({
      kernel: this.#kernel,
      hosts: Array.from(
        { length: sized.containers + 1 },
        (_, index) => `10.0.${index >> 8}.${index & 255}`,
      ),
      settings: { 'heron.instance.queue.bytes': `${LIMIT_OF_RINGS}` },
      interposer: {
        portsOf: (ports, { name }) => ({
          ...ports,
          files: this.#counting(ports.files, kindOf(name)),
        }),
      },
    });
    this.#cluster.machine.onLogLine((_process, { message }) => this.#handleLine(message));
    this.#cluster.machine.network.tap({ onBytes: (event) => this.#handleBytes(event) });
  }

  #note(what: string, value: number, unit: string): void {
    this.#measurements.note(this.#sized.containers, what, value, unit);
  }

  #handleLine(message: string): void {
    if (message === 'a physical plan is in force') this.#planAtMs = this.#kernel.nowMs;
    if (message === 'all instances and stream managers are connected') {
      this.#meshAtMs = this.#kernel.nowMs;
    }
    if (message === 'the component is open') {
      this.#open += 1;
      this.#openAtMs = this.#kernel.nowMs;
    }
  }

  #handleBytes({ from, to, bytes }: TrafficEvent): void {
    if (![from.process, to.process].includes('heron-tmanager')) return;
    this.#masterMessages += 1;
    this.#masterBytes += bytes.length;
  }

  async #start(): Promise<void> {
    await this.#run(this.#cluster.submit(this.#sized.built));
    const instances = this.#sized.containers * INSTANCES_PER_CONTAINER;
    const end = await this.#kernel.run(() => this.#open === instances, LIMITS);
    assert.equal(end, 'reached', `${this.#open} of ${instances} instances run`);
  }

  #noteStart(cpuBefore: NodeJS.CpuUsage): void {
    const { user, system } = process.cpuUsage(cpuBefore);
    this.#note('from the plan to the last link', this.#meshAtMs - this.#planAtMs, 'simulated ms');
    this.#note('from the plan to the last task', this.#openAtMs - this.#planAtMs, 'simulated ms');
    this.#note('from the submit to the last task', this.#openAtMs, 'simulated ms');
    this.#note('simulating the start', (user + system) / 1e6, 'CPU s');
    this.#note('connections', this.#cluster.machine.network.connections().length, 'connections');
    this.#noteFiles('start', 1);
  }

  async #steady(): Promise<void> {
    this.#files.clear();
    this.#masterMessages = 0;
    this.#masterBytes = 0;
    const before = process.cpuUsage();
    await this.#kernel.advance(STEADY_MS);
    const { user, system } = process.cpuUsage(before);
    const seconds = STEADY_MS / 1000;
    this.#note('at the master', this.#masterMessages / seconds, 'packets/s');
    this.#note('at the master, on the wire', this.#masterBytes / seconds, 'bytes/s');
    this.#note('simulating one second', (user + system) / 1e6 / seconds, 'CPU s');
    this.#noteFiles('steady', seconds);
  }

  #noteFiles(phase: string, seconds: number): void {
    const per = seconds === 1 ? '' : '/s';
    for (const kind of KINDS) {
      const { operations, bytes } = this.#files.get(kind) ?? { operations: 0, bytes: 0 };
      this.#note(
        `${phase}: file operations of all ${kind}s`,
        operations / seconds,
        `operations${per}`,
      );
      this.#note(`${phase}: read by all ${kind}s`, bytes / 1e6 / seconds, `MB${per}`);
    }
  }

  async #run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const settled = work.finally(() => {
      isDone = true;
    });
    settled.catch(() => {}); // It is awaited below.
    await this.#kernel.run(() => isDone, LIMITS);
    return settled;
  }

  #counting(files: Files, kind: Kind): Files {
    const count = (bytes: number): void => {
      const known = this.#files.get(kind) ?? { operations: 0, bytes: 0 };
      this.#files.set(kind, { operations: known.operations + 1, bytes: known.bytes + bytes });
    };
    return new Proxy(files, {
      get(target, name, receiver) {
        const operation: unknown = Reflect.get(target, name, receiver);
        if (typeof operation !== 'function') return operation;
        return (...args: unknown[]): unknown => {
          const result: unknown = operation.apply(target, args);
          if (name !== 'read') count(0);
          else {
            (result as Promise<Uint8Array>).then(
              (bytes) => count(bytes.length),
              () => count(0),
            );
          }
          return result;
        };
      },
    });
  }
}

function kindOf(process: string): Kind {
  if (process.startsWith('container_')) return 'instance';
  if (process.startsWith('stmgr-')) return 'stream manager';
  return KINDS.find((kind) => process.includes(kind)) ?? 'other';
}
