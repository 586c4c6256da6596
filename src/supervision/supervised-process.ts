import { assertDefined } from '../base/assert.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { ProcessExit, ProcessReport, ProcessState } from '../model/container-report.ts';
import { exitReason } from './exit-reason.ts';
import type { Ending, ProcessHandle } from './process-handle.ts';
import { decideRestart, type RestartPolicy } from './restart-policy.ts';
import type { Sign } from './silence-watch.ts';

/*
  One process that is wanted: keeps one incarnation of it alive until it is told to stop.

  S1. At most one incarnation lives at a time: the next starts only when the last one is gone.
  S2. A death that nobody asked for is followed by a back-off and another start, or by `failed`.
  S3. After `stop` has resolved, nothing is started any more.
*/

/** Starts one incarnation. Does not throw: what prevents a start is in the handle's ending. */
export type Launch = () => ProcessHandle;

export interface SupervisedProcessOptions {
  readonly name: string;
  readonly policy: RestartPolicy;
  readonly graceMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** After every change of what `report` says. */
  readonly onChange: () => void;
  /** After a death that nobody asked for, while the back-off has already begun. */
  readonly onDeath?: (exit: ProcessExit) => void;
  /** What is known from an earlier supervisor of the same process. */
  readonly history?: Pick<ProcessReport, 'restarts' | 'lastExit'>;
}

type Phase =
  | { readonly at: 'running'; readonly handle: ProcessHandle; readonly sinceMs: number }
  | { readonly at: 'backing-off'; readonly timer: Timer }
  | { readonly at: 'stopping'; readonly handle: ProcessHandle; readonly thenStart: boolean }
  | { readonly at: 'stopped' }
  | { readonly at: 'failed' };

const STATE_OF_PHASE: Readonly<Record<Phase['at'], ProcessState>> = {
  running: 'running',
  stopping: 'running',
  'backing-off': 'restarting',
  stopped: 'stopped',
  failed: 'failed',
};

/** A killed process that the kernel has not cleared away by then is left to the next look. */
const KILL_LIMIT_MS = 10_000;

export class SupervisedProcess {
  readonly #options: SupervisedProcessOptions;
  #launch: Launch | undefined;
  #phase: Phase = { at: 'stopped' };
  /** Settles when the incarnation at hand is gone. */
  #gone: Promise<void> = Promise.resolve();
  #deaths = 0;
  #starts = 0;
  readonly #restartsBefore: number;
  #startedAtMs = 0;
  #readyAtMs: number | undefined;
  #lastExit: ProcessExit | undefined;
  /** Why the incarnation at hand was killed. */
  #killReason: string | undefined;
  /** Why it was told to end for another one. */
  #replaceReason = '';

  constructor(options: SupervisedProcessOptions) {
    this.#options = options;
    this.#restartsBefore = options.history === undefined ? 0 : options.history.restarts + 1;
    this.#lastExit = options.history?.lastExit;
  }

  get report(): ProcessReport {
    return {
      name: this.#options.name,
      pid: pidOf(this.#phase),
      state: STATE_OF_PHASE[this.#phase.at],
      restarts: this.#restartsBefore + Math.max(0, this.#starts - 1),
      startedAtMs: this.#startedAtMs,
      ...(this.#readyAtMs === undefined ? {} : { readyAtMs: this.#readyAtMs }),
      ...(this.#lastExit === undefined ? {} : { lastExit: this.#lastExit }),
    };
  }

  /** The number of the incarnation that runs; undefined while none does. */
  get life(): number | undefined {
    return this.#phase.at === 'running' ? this.#starts : undefined;
  }

  /** What was heard of the incarnation that runs; undefined for one that may be silent. */
  get sign(): Sign | undefined {
    const phase = this.#phase;
    const beat = phase.at === 'running' ? phase.handle.beats?.() : undefined;
    return beat === undefined ? undefined : { life: this.#starts, beat, hasBegun: beat > 0 };
  }

  /** The incarnation that runs. */
  get handle(): ProcessHandle | undefined {
    return this.#phase.at === 'running' ? this.#phase.handle : undefined;
  }

  /** Begins with an incarnation that is running already, or with a new one. */
  start(launch: Launch, running?: ProcessHandle): void {
    this.#launch = launch;
    this.#begin(running ?? launch());
  }

  /** Replaces what runs by a new incarnation; the reason is for people. */
  restart(reason = 'stopped by its supervisor to be started anew'): void {
    this.#replaceReason = reason;
    const phase = this.#phase;
    switch (phase.at) {
      case 'running':
        this.#end(phase.handle, { thenStart: true });
        return;
      case 'stopping':
        this.#enter({ ...phase, thenStart: true });
        return;
      case 'backing-off':
        return; // The pause goes on, or a process that dies at once would not be paced (S2).
      case 'stopped':
      case 'failed':
        this.#deaths = 0;
        this.#begin(this.#launchNext());
    }
  }

  /** Ends by force what runs and hangs: a death like any other, but for its reason (S2). */
  kill(reason: string): void {
    const phase = this.#phase;
    if (phase.at !== 'running') return;
    const { logger, name } = this.#options;
    logger.warn('process hangs and is killed', { child: name, pid: phase.handle.pid, reason });
    this.#killReason = reason;
    phase.handle.signal('SIGKILL');
  }

  /**
   * SIGTERM, then SIGKILL after the grace time. Resolves when the process is gone, at once when it
   * has gone already; also when the kernel does not let go of it within a further limit.
   */
  async stop(): Promise<void> {
    const phase = this.#phase;
    switch (phase.at) {
      case 'running':
        this.#end(phase.handle, { thenStart: false });
        break;
      case 'stopping':
        this.#enter({ ...phase, thenStart: false });
        break;
      case 'backing-off':
        phase.timer.cancel();
        this.#enter({ at: 'stopped' });
        break;
      case 'stopped':
      case 'failed':
    }
    await this.#gone;
  }

  #launchNext(): ProcessHandle {
    return assertDefined(this.#launch, `${this.#options.name} has been started once`)();
  }

  #begin(handle: ProcessHandle): void {
    const { clock, logger, name } = this.#options;
    this.#starts += 1;
    this.#startedAtMs = clock.wallNow();
    this.#readyAtMs = undefined;
    this.#killReason = undefined;
    logger.info('process started', { child: name, pid: handle.pid });
    void handle.ready?.then(() => this.#onReady(handle));
    this.#gone = handle.ended.then((ending) => this.#onEnded(handle, ending));
    this.#enter({ at: 'running', handle, sinceMs: clock.now() });
  }

  #onReady(handle: ProcessHandle): void {
    const phase = this.#phase;
    if (phase.at !== 'running' || phase.handle !== handle) return;
    this.#readyAtMs = this.#options.clock.wallNow();
    this.#options.onChange();
  }

  #end(handle: ProcessHandle, { thenStart }: { readonly thenStart: boolean }): void {
    const { clock, graceMs, logger, name } = this.#options;
    handle.signal('SIGTERM');
    const force = clock.after(graceMs, () => {
      logger.warn('process ignores SIGTERM and is killed', { child: name, pid: handle.pid });
      handle.signal('SIGKILL');
    });
    const limited = new Promise<void>((resolve) => {
      const limit = clock.after(graceMs + KILL_LIMIT_MS, resolve);
      void handle.ended.then(() => {
        force.cancel();
        limit.cancel();
        return undefined;
      });
    });
    this.#gone = Promise.race([this.#gone, limited]);
    this.#enter({ at: 'stopping', handle, thenStart });
  }

  #onEnded(handle: ProcessHandle, ending: Ending): void {
    const phase = this.#phase;
    if (phase.at === 'running' && phase.handle === handle) {
      this.#onDied(ending, phase.sinceMs);
    } else if (phase.at === 'stopping' && phase.handle === handle) {
      if (phase.thenStart) this.#replace(ending);
      else this.#enter({ at: 'stopped' });
    }
  }

  #onDied(ending: Ending, sinceMs: number): void {
    const { name, clock, random, policy, logger, onDeath } = this.#options;
    const { startProblem } = ending;
    const exit = this.#exitOf(ending, this.#killReason ?? startProblem ?? exitReason(ending));
    this.#readyAtMs = undefined;
    const death = {
      earlierDeaths: this.#deaths,
      ranForMs: clock.now() - sinceMs,
      couldNotStart: startProblem !== undefined,
    };
    const decision = decideRestart(policy, death, random);
    this.#deaths = decision.deaths;
    this.#lastExit = exit;
    const facts = { child: name, code: exit.code, signal: exit.signal, reason: exit.reason };
    if (decision.kind === 'give-up') {
      logger.error('process died too often and is given up', { ...facts, deaths: this.#deaths });
      this.#enter({ at: 'failed' });
    } else {
      logger.warn('process died', { ...facts, restartInMs: decision.delayMs });
      const timer = clock.after(decision.delayMs, () => this.#begin(this.#launchNext()));
      this.#enter({ at: 'backing-off', timer });
    }
    onDeath?.(exit);
  }

  #replace(ending: Ending): void {
    this.#lastExit = this.#exitOf(ending, this.#replaceReason);
    this.#begin(this.#launchNext());
  }

  #exitOf({ code, signal, lastLines }: Ending, reason: string): ProcessExit {
    return { code, signal, atMs: this.#options.clock.wallNow(), reason, lastLines };
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#options.onChange();
  }
}

function pidOf(phase: Phase): number | null {
  return phase.at === 'running' || phase.at === 'stopping' ? (phase.handle.pid ?? null) : null;
}
