import assert from 'node:assert/strict';
import type { Cluster, CommandEnd } from '../../../support/cluster.ts';

/*
  Commands about the topology while faults strike: each runs on its own, may be killed, and may say
  that it took too long or that too little of the topology runs. What it says besides is wrong.
*/

/** So many at once: the machine has other work. */
const AT_ONCE_MAX = 3;
const LIMIT = ['--timeout', '60'] as const;
/** Done; half dead; the store is away; took too long; killed. */
const EXPECTED_CODES: readonly (number | null)[] = [0, 100, 104, 105, null];

/** What is asked for at the end, whatever has been asked for before. */
const LAST_SIZES = ['--component-parallelism', 'lines:2', '--component-parallelism', 'slow:3'];
export const LAST_UPDATE = [...LAST_SIZES, '--component-parallelism', 'sink:2'];
export const LAST_CONTAINERS = 3;

const UPDATES: readonly (readonly string[])[] = [
  ['--component-parallelism', 'lines:1'],
  ['--component-parallelism', 'lines:2'],
  ['--component-parallelism', 'slow:2'],
  ['--component-parallelism', 'slow:4'],
  ['--component-parallelism', 'slow:5', '--component-parallelism', 'sink:3'],
  ['--component-parallelism', 'sink:1'],
  ['--component-parallelism', 'sink:2', '--component-parallelism', 'slow:3'],
  ['--container-number', '2'],
  ['--container-number', '3'],
  ['--container-number', '4'],
  ['--runtime-config', 'mood:good'],
  ['--runtime-config', 'slow:mood:bad'],
];

/** A command that has ended, and how. */
interface Ended extends CommandEnd {
  readonly text: string;
}

export class Commands {
  readonly #cluster: Cluster;
  readonly #topology: string;
  readonly #running = new Set<Promise<void>>();
  readonly #ended: Ended[] = [];

  constructor(cluster: Cluster, topology: string) {
    this.#cluster = cluster;
    this.#topology = topology;
  }

  /**
   * Begins a command with options, and arguments behind the topology's name.
   *
   * @returns what has been begun, as a fault tells it; nothing when enough commands run.
   */
  begin(
    command: string,
    options: readonly string[] = [],
    ...behind: readonly string[]
  ): readonly string[] {
    if (this.#running.size >= AT_ONCE_MAX) return [];
    const text = ['heron', command, ...options, ...behind].join(' ');
    const about = [this.#cluster.place, this.#topology, ...behind];
    const run = this.#cluster.heron(command, ...options, ...about).then((end) => {
      this.#ended.push({ ...end, text });
      this.#running.delete(run);
    });
    this.#running.add(run);
    return [text];
  }

  update(pick: number): readonly string[] {
    const change = UPDATES[Math.floor(pick * UPDATES.length)] ?? [];
    return this.begin('update', [...LIMIT, ...change]);
  }

  /** `heron restart` of the container of a process. */
  restart(process: string | undefined): readonly string[] {
    const container = /^(?:container_|stmgr-|metricsmgr-|executor-)(\d+)/.exec(process ?? '')?.[1];
    return container === undefined ? [] : this.begin('restart', LIMIT, container);
  }

  /** A command that changes nothing, but starts a scheduler where one has died. */
  async look(): Promise<void> {
    const end = await this.#cluster.heron('list', this.#cluster.name);
    this.#ended.push({ ...end, text: 'heron list' });
  }

  async haveEnded(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Every answer so far has been one that a user may get at such a time. */
  assertAnswers(): void {
    const wrong = this.#ended.filter(({ code }) => !EXPECTED_CODES.includes(code));
    const texts = wrong.map(({ text, code, stderr }) => `${text}: ${code} ${stderr}`);
    assert.deepEqual(texts, []);
  }

  /** How many commands ended how: `{"update 0": 7, "restart 105": 1}`. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { text, code } of this.#ended) {
      const [, command = ''] = text.split(' ');
      const key = `${command} ${code ?? 'killed'}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** What those said that did not do what they were asked to. */
  complaints(): readonly string[] {
    return this.#ended
      .filter(({ code }) => code !== 0 && code !== null)
      .map(({ text, code, stderr }) => `${text}: ${code} ${stderr.trim()}`);
  }
}
