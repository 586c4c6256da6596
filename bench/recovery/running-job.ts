import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { nowMicros } from '../word-count/measured-bolts.ts';
import { Arrivals } from './arrivals.ts';
import { WeightKeeper } from './weight-keeper.ts';

const run = promisify(execFile);
const HERON = resolve(import.meta.dirname, '../../bin/heron.mjs');
const [CLUSTER, ROLE, NAME] = ['local', 'bench', 'recovery'];
const PLACE = `${CLUSTER}/${ROLE}/bench`;

/** Well above what is waited for, so that it is a failure. */
const LIMIT_MS = 60_000;
const LOOK_MS = 20;
/** Words have come evenly for so long before anything is measured. */
const STEADY_MS = 2_000;
/** No time without a word was longer, in that time. */
const STEADY_GAP_MS = 250;

/** A line of a log, with its time by the clock that all figures use. */
interface LogLine {
  readonly at: number;
  readonly message: string;
  readonly child?: string;
}

/** The job of this bench as a real topology with a data root of its own. */
export class RunningJob {
  readonly #dataRoot = mkdtempSync(join(tmpdir(), 'heron-bench-'));
  readonly #folder = mkdtempSync(join(tmpdir(), 'heron-bench-arrivals-'));
  readonly #weight = new WeightKeeper(this.#dataRoot);

  /** Resolves when words come evenly. */
  static async start(
    wordsPerSecond: number,
    config: Readonly<Record<string, string | number>>,
  ): Promise<RunningJob> {
    const job = new RunningJob();
    const properties = Object.entries(config).flatMap(([key, value]) => [
      '--config-property',
      `${key}=${value}`,
    ]);
    const module = join(import.meta.dirname, 'job.ts');
    try {
      await job.heron(
        'submit',
        ...properties,
        PLACE,
        module,
        NAME,
        job.#folder,
        wordsPerSecond / 2,
      );
      await job.steady();
    } catch (error) {
      await job.end();
      throw error;
    }
    return job;
  }

  get arrivals(): Arrivals {
    return new Arrivals(this.#folder);
  }

  /** Runs a command of `heron` to its end. */
  async heron(...args: readonly (string | number)[]): Promise<void> {
    const env = { ...process.env, HERON_DATA: this.#dataRoot };
    await run(process.execPath, [HERON, ...args.map(String)], { env });
  }

  /** `heron update` of this topology. */
  update(...args: readonly string[]): Promise<void> {
    return this.heron('update', PLACE, NAME, ...args);
  }

  /** Kills a process by what is in its arguments; when. */
  kill(argument: string): number {
    const pid = this.#pidOf(argument);
    const at = nowMicros();
    process.kill(pid, 'SIGKILL');
    return at;
  }

  /** Waits until words come evenly. */
  async steady(): Promise<void> {
    await this.until('words come evenly', () => {
      const now = nowMicros();
      const { arrivals } = this;
      const isFlowing = now - arrivals.lastAt < STEADY_GAP_MS * 1_000;
      return isFlowing && arrivals.longestGapMs(now - STEADY_MS * 1_000, now) < STEADY_GAP_MS;
    });
    await wait(STEADY_MS);
  }

  /** Looks until there is something. */
  async until<Found>(what: string, look: () => Found | undefined | false): Promise<Found> {
    const deadline = nowMicros() + LIMIT_MS * 1_000;
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (nowMicros() > deadline) throw new Error(`not within ${LIMIT_MS} ms: ${what}`);
      await wait(LOOK_MS);
    }
  }

  /** The lines of a log that were written after a moment. */
  linesAfter(after: number, container: number, file: string): readonly LogLine[] {
    const path = join(
      'topologies',
      CLUSTER,
      ROLE,
      NAME,
      `container-${container}`,
      'log-files',
      file,
    );
    const text = readFileSync(join(this.#dataRoot, path), 'utf8');
    const offset = Date.now() * 1_000 - nowMicros();
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const { time, ...rest } = JSON.parse(line) as LogLine & { readonly time: string };
        return { ...rest, at: Date.parse(time) * 1_000 - offset };
      })
      .filter(({ at }) => at > after - 1_000); // Its times are whole milliseconds.
  }

  /** Kills the topology and leaves nothing. */
  async end(): Promise<void> {
    await this.heron('kill', PLACE, NAME);
    this.#weight.close();
    rmSync(this.#folder, { recursive: true });
    rmSync(this.#dataRoot, { recursive: true });
  }

  #pidOf(argument: string): number {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        const isOurs = command.some((part) => part.includes(this.#dataRoot));
        if (isOurs && command.some((part) => part.includes(argument))) return Number(name);
      } catch {
        continue; // Gone between two reads.
      }
    }
    throw new Error(`there is no process with ${argument}`);
  }
}
