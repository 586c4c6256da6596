import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt, fileSource, topology, type TopologyContext, type Tuple } from 'heron-ts';
import { delay, type Timer } from '../../src/base/clock.ts';
import { componentName } from '../../src/base/ids.ts';
import { createSeededRandom, type Random } from '../../src/base/random.ts';
import { SimulatedCluster } from '../../src/simulation/cluster/simulated-cluster.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import { SourceDisk } from '../support/source-disk.ts';

/*
  S13 to S16 over changes of parallelism, with the whole engine: a file source at least once, whose
  tasks come and go while it is read, on two hosts that share the folder of positions.
*/

const FILES = ['/a', '/b', '/c', '/d', '/e'];
const LINES_EACH = 60;
const SPOUT = componentName('lines');
const EXECUTE_MS = 20;
const KILL_MS = 700;
const PARALLELISM_MAX = 5;
const UPDATES = 4;
const LIMITS = { simulatedMsMax: 300_000, eventsMax: 5_000_000 };

class FilesInTest {
  readonly wanted: readonly string[];
  /** How often each line has been executed. */
  readonly executed = new Map<string, number>();
  readonly cluster: SimulatedCluster;
  readonly random: Random;
  readonly #kernel: Kernel;

  constructor(seed: number) {
    this.#kernel = new Kernel({ seed, keepsLog: false });
    this.random = createSeededRandom(seed);
    this.cluster = new SimulatedCluster({
      kernel: this.#kernel,
      startMs: 1,
      hosts: ['10.0.0.1', '10.0.0.2'],
    });
    this.wanted = FILES.flatMap((file) =>
      Array.from({ length: LINES_EACH }, (_, number) => `${file}${number}`),
    );
  }

  async submit(): Promise<void> {
    const disk = new SourceDisk();
    for (const file of FILES) {
      const lines = this.wanted.filter((line) => line.startsWith(file));
      disk.put(file, lines.map((line) => `${line}\n`).join(''));
    }
    const { executed } = this;
    class Sink extends BasicBolt {
      #context: TopologyContext | undefined;
      override prepare(context: TopologyContext): void {
        this.#context = context;
      }
      override async execute(tuple: Tuple<{ line: string }>): Promise<void> {
        const line = tuple.get('line');
        executed.set(line, (executed.get(line) ?? 0) + 1);
        if (this.#context !== undefined) await delay(this.#context.clock, EXECUTE_MS);
      }
    }
    const definition = topology('files', (builder) => {
      builder.setConfig({
        'topology.reliability.mode': 'ATLEAST_ONCE',
        'topology.stmgrs': '2',
        'topology.max.spout.pending': '4',
      });
      const source = fileSource(FILES, { files: disk, positions: '/positions' });
      const lines = builder.setSpout(SPOUT, source, { parallelism: 2 });
      builder.setBolt('sink', () => new Sink(), { parallelism: 2 }).shuffleGrouping(lines);
    });
    await this.#command(() => this.cluster.submit(definition.build()));
  }

  /** Updates, one after the other, while the files are read. */
  async change(): Promise<void> {
    for (let update = 1; update <= UPDATES; update += 1) {
      const enough = (this.wanted.length * update) / (UPDATES + 3);
      await this.until(() => this.executed.size >= enough);
      const parallelism = 1 + this.random.below(PARALLELISM_MAX);
      if (parallelism === this.#tasks()) continue;
      await this.#command(async () => {
        await this.cluster.command.update({ parallelism: new Map([[SPOUT, parallelism]]) });
      });
    }
  }

  async until(condition: () => boolean): Promise<void> {
    const end = await this.#kernel.run(condition, LIMITS);
    const state = `${this.executed.size} lines, ${this.#tasks()} tasks`;
    assert.equal(end, 'reached', `after ${this.#kernel.nowMs} ms, ${state}`);
  }

  every(periodMs: number, call: () => void): Timer {
    return this.#kernel.createThread('faults').clock.every(periodMs, call);
  }

  get missing(): readonly string[] {
    return this.wanted.filter((line) => !this.executed.has(line));
  }

  get repeated(): readonly string[] {
    return this.wanted.filter((line) => (this.executed.get(line) ?? 0) > 1);
  }

  /** Those that stay. */
  #tasks(): number {
    const { containers = [] } = this.cluster.storedPacking() ?? {};
    return containers
      .flatMap(({ instances }) => instances)
      .filter(({ component, isRetiring }) => component === SPOUT && isRetiring !== true).length;
  }

  async #command(call: () => Promise<void>): Promise<void> {
    const command = { isOver: false };
    const over = (): void => void (command.isOver = true);
    const done = call();
    done.then(over, over);
    await this.until(() => command.isOver);
    await done;
  }
}

describe('a file source whose tasks come and go', () => {
  for (const seed of [1, 2]) {
    it(`S13 to S16: processes every line once where nothing fails, seed ${seed}`, async () => {
      const life = new FilesInTest(seed);
      await life.submit();
      await life.change();
      await life.until(() => life.cluster.isGone);
      assert.deepEqual([life.missing, life.repeated], [[], []]);
      assert.equal(life.cluster.completion()?.result, 'completed');
    });
  }

  for (const seed of [11, 12]) {
    it(`S13 to S16: misses no line where processes die, seed ${seed}`, async () => {
      const life = new FilesInTest(seed);
      await life.submit();
      const kill = (): void => {
        const names = life.cluster.processes().map(({ name }) => name);
        const victims = names.filter((name) => /^(container_\d+_lines_|stmgr-)/.test(name));
        const victim = victims[life.random.below(victims.length)];
        if (victim !== undefined) life.cluster.kill(victim);
      };
      const killing = life.every(KILL_MS, kill);
      await life.change();
      killing.cancel();
      await life.until(() => life.cluster.isGone);
      assert.deepEqual(life.missing, []);
    });
  }
});
