import { readdirSync, readFileSync } from 'node:fs';
import { raiseWeight } from '../word-count/machine.ts';

const LOOK_MS = 20;
/** By then a new process has the session that it keeps. */
const NEW_MS = 1_000;

/**
 * Gives all processes of a data root more weight than the rest of the machine, those too that are
 * started later: what is measured is how soon they are there.
 */
export class WeightKeeper {
  readonly #dataRoot: string;
  /** When each process was first seen; undefined for those of others. */
  readonly #seen = new Map<string, number | undefined>();
  readonly #timer: NodeJS.Timeout;

  constructor(dataRoot: string) {
    this.#dataRoot = dataRoot;
    raiseWeight([process.pid]);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = process.uptime() * 1_000;
    for (const pid of readdirSync('/proc')) {
      if (!/^\d/.test(pid)) continue;
      if (!this.#seen.has(pid)) this.#note(pid, now);
      const since = this.#seen.get(pid);
      if (since !== undefined && now - since < NEW_MS) raiseWeight([Number(pid)]);
    }
  }

  #note(pid: string, now: number): void {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (command === '') return; // It is just becoming another program.
      this.#seen.set(pid, command.includes(this.#dataRoot) ? now : undefined);
    } catch {
      return; // Gone already.
    }
  }
}
