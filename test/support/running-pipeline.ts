import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Completion } from '../../src/model/completion.ts';
import { type Cluster, PATIENTLY } from './cluster.ts';
import { eventually, type EventuallyOptions } from './eventually.ts';
import { LINE_FILES, LineWriter } from './line-writer.ts';
import { SunkLines } from './sunk-lines.ts';

const PIPELINE = join(
  import.meta.dirname,
  '../cluster/at-least-once/fixtures/topologies/pipeline.ts',
);
/** What has to come out before a test begins. */
const WARM_UP_LINES = 500;
const SLOW_MS = 4;
const AT_LEAST_ONCE = {
  'topology.reliability.mode': 'ATLEAST_ONCE',
  // Many times what all that may be pending takes, so that a busy machine does not replay for ever.
  'topology.message.timeout.secs': 10,
  'topology.max.spout.pending': 200,
  // A line that becomes a dead letter would be missing.
  'topology.retry.limit': 100_000,
  'topology.retry.backoff.max.ms': 1_000,
  'heron.executor.restart.backoff.max.ms': 500,
  'heron.executor.restart.attempts.max': 100_000,
};

export interface PipelineOptions {
  readonly config?: Readonly<Record<string, string | number>>;
  readonly warmUpLines?: number;
  /** What a line takes in a bolt `slow`; many are worked on at once. */
  readonly slowMs?: number;
  /** Of every wait. */
  readonly patience?: EventuallyOptions;
}

/**
 * Lines that are written to files without an end, and go through `pipeline` at least once: two
 * spouts `lines`, three bolts `slow`, two sinks `sink`, in two containers unless told otherwise.
 */
export class RunningPipeline {
  readonly name = 'pipeline';
  readonly cluster: Cluster;
  readonly sunk: SunkLines;
  readonly #writer: LineWriter;
  readonly #patience: EventuallyOptions;

  static async begin(
    cluster: Cluster,
    { config = {}, patience = PATIENTLY, ...options }: PipelineOptions = {},
  ): Promise<RunningPipeline> {
    const { warmUpLines = WARM_UP_LINES, slowMs = SLOW_MS } = options;
    const folder = join(cluster.folder, 'lines');
    await mkdir(folder);
    const settings = { 'topology.stmgrs': 2, ...AT_LEAST_ONCE, ...config };
    await cluster.submit(PIPELINE, 'pipeline', { args: [folder, slowMs], config: settings });
    const pipeline = new RunningPipeline(cluster, folder, patience);
    try {
      await pipeline.#cameOut(warmUpLines);
    } catch (error) {
      pipeline.stopWriting();
      throw error;
    }
    return pipeline;
  }

  private constructor(cluster: Cluster, folder: string, patience: EventuallyOptions) {
    this.cluster = cluster;
    this.sunk = new SunkLines(folder);
    this.#writer = new LineWriter(folder, this.sunk);
    this.#patience = patience;
  }

  get written(): number {
    return this.#writer.written;
  }

  /** Nothing is written afterwards; for `finally`, so that a failed test can end. */
  stopWriting(): void {
    this.#writer.stop();
  }

  /** Waits until as many lines have come out as have been written so far, and some more. */
  async goesOn(): Promise<void> {
    await this.#cameOut(this.sunk.distinct.size + WARM_UP_LINES);
  }

  async #cameOut(lines: number): Promise<void> {
    await eventually(() => {
      this.sunk.read();
      const { size } = this.sunk.distinct;
      assert.ok(size >= lines, `${size} of ${lines} lines have come out`);
    }, this.#patience);
  }

  /** Waits until `heron status` says so. */
  async untilState(state: string): Promise<void> {
    await eventually(async () => {
      const { containers, ...status } = await this.cluster.status(this.name);
      assert.equal(status.state, state, JSON.stringify(containers));
    }, this.#patience);
  }

  /** Processes of the engine by name, without commands. */
  pids(): ReadonlyMap<string, number> {
    const found = this.cluster.processes().filter(({ name }) => !name.includes(' '));
    return new Map(found.map(({ name, pid }) => [name, pid]));
  }

  /** Waits until each of the names is there, as another process than before. */
  async areReplaced(names: readonly string[], before: ReadonlyMap<string, number>): Promise<void> {
    await eventually(() => {
      const now = this.pids();
      for (const name of names) {
        assert.ok(now.has(name), `${name} is not there`);
        assert.notEqual(now.get(name), before.get(name), `${name} is the same process`);
      }
    }, this.#patience);
  }

  /** Stops the input, and waits until every line has come out. */
  async allCameOut(): Promise<void> {
    this.stopWriting();
    await eventually(() => this.assertAllThere(), this.#patience);
  }

  assertAllThere(): void {
    this.sunk.read();
    const missing: string[] = [];
    for (let n = 0; n < this.written; n += 1) {
      if (!this.sunk.distinct.has(`line ${n}`)) missing.push(`line ${n}`);
    }
    const some = missing.slice(0, 20).join(', ');
    const count = `${missing.length} of ${this.written} lines are missing`;
    assert.equal(missing.length, 0, `${count}: ${some}`);
    assert.equal(this.sunk.distinct.size, this.written);
  }

  /** What has come out of each file is its beginning: for a topology that has read no further. */
  assertNoGaps(): void {
    this.sunk.read();
    const numbers = [...this.sunk.distinct].map((line) => Number(line.slice('line '.length)));
    for (let file = 0; file < LINE_FILES; file += 1) {
      const own = numbers.filter((n) => n % LINE_FILES === file).toSorted((a, b) => a - b);
      assert.deepEqual(
        own,
        own.map((_, at) => at * LINE_FILES + file),
      );
    }
  }

  /**
   * Lets the topology end as if nothing had been: every line has come out, nothing has been given
   * up, and no death has cost anything; what it says of its end.
   */
  async end(): Promise<Pick<Completion, 'incidents' | 'recovered'>> {
    await this.allCameOut();
    const { code, stdout, stderr } = await this.cluster.drain(this.name);
    assert.equal(code, 0, stdout + stderr);
    const ended = JSON.parse(stdout) as Completion & { readonly deadLetters: number };
    assert.deepEqual([ended.incidents, ended.deadLetters], [[], 0]);
    this.assertAllThere();
    return ended;
  }
}
