import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Completion } from '../../src/model/completion.ts';
import { countsOf } from '../cluster/fixtures/topologies/corpus.ts';
import { type Cluster, type CommandEnd, PATIENTLY, type RunningCommand } from './cluster.ts';
import { eventually } from './eventually.ts';

/** What each task of the spout reads: enough to be in the middle for as long as a test needs. */
const LINES = [20_000, 20_000];

export interface WordCountOptions {
  readonly lines?: readonly number[];
  readonly config?: Readonly<Record<string, string | number>>;
}

/**
 * Word count in the middle of its input: words have been counted, more are on their way, and the
 * end does not come before `goOn`.
 */
export class RunningWordCount {
  readonly #cluster: Cluster;
  readonly #name: string;
  readonly #lines: readonly number[];
  readonly #run: RunningCommand;

  static async begin(
    cluster: Cluster,
    { lines = LINES, config = {} }: WordCountOptions = {},
    name = 'word-count',
  ): Promise<RunningWordCount> {
    const [gate, progress] = [gateFile(cluster, name), join(cluster.folder, `${name}.progress`)];
    const run = cluster.beginRun('word-count', name, { args: [gate, progress, ...lines], config });
    await Promise.race([
      eventually(() => access(progress), PATIENTLY),
      run.end.then((end) => assert.fail(`heron run ended early: ${end.stdout}${end.stderr}`)),
    ]);
    return new RunningWordCount(cluster, name, lines, run);
  }

  private constructor(
    cluster: Cluster,
    name: string,
    lines: readonly number[],
    run: RunningCommand,
  ) {
    this.#cluster = cluster;
    this.#name = name;
    this.#lines = lines;
    this.#run = run;
  }

  /** The command `heron run` itself. */
  get command(): RunningCommand {
    return this.#run;
  }

  /** Lets the input come to its end. */
  goOn(): Promise<void> {
    return writeFile(gateFile(this.#cluster, this.#name), '');
  }

  /** How `heron run` ended, and what the topology says of its end. */
  async end(): Promise<{ readonly command: CommandEnd; readonly completion: Completion }> {
    const command = await this.#run.end;
    return { command, completion: await this.#cluster.completion(this.#name) };
  }

  async assertCountsAreRight(): Promise<void> {
    assert.deepEqual(await this.#cluster.result(this.#name), countsOf(this.#lines));
  }
}

function gateFile(cluster: Cluster, name: string): string {
  return join(cluster.folder, `${name}.gate`);
}
