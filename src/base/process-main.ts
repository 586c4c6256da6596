/*
  The frame around every process of the engine: how it starts, how it is stopped, how it fails, and
  what its exit code says. `main` builds the process and returns; from then on the process lives
  until something ends it:

    SIGTERM, SIGINT, the end of its parent, `context.stop`  → hooks, exit with EXIT.ok
    `context.fail`, an error out of `main`                   → log, hooks, exit by the error
    an exception or rejection that nobody caught             → log, exit by the error at once

  P1. Hooks run one after the other in the order of their registration, each of them once,
      whatever ends the process and however often it is told to end.
  P2. The hooks have `graceMs` together; then the process ends with EXIT.failure.
  P3. After an exception that nobody caught nothing else runs: what the process believed is void,
      and its executor starts it again.
  P4. A process whose event loop runs empty has failed, and so has one that foreign code ends by
      `process.exit`.
*/

import { type Clock, systemClock, type Timer } from './clock.ts';
import { messageOf, stackOf } from './errors.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { HostProcess } from './host-process.ts';
import type { Logger } from './logger.ts';
import { platformProblem } from './platform.ts';
import { systemHostProcess } from './system-host-process.ts';

export type StopReason = 'SIGTERM' | 'SIGINT' | 'parent-ended' | 'stopped' | 'failed';

export interface ProcessOptions {
  /** What `ps` shows, followed by the arguments: `heron-stmgr`. */
  readonly name: string;
  /**
   * The process ends when its standard input does, which is how a process whose parent holds the
   * other end learns of the parent's death. Only a pipe or a socket counts, so a terminal or
   * `/dev/null` changes nothing. True unless set.
   */
  readonly endsWithParent?: boolean;
  readonly graceMs?: number;
  /** The exit code for what ended the process; `exitCodeOf` unless set. */
  readonly exitCodeOf?: (error: unknown) => ExitCode;
}

export interface ProcessContext {
  /** Failures go to this log from now on; until then they go to standard error. */
  logTo(logger: Logger): void;
  /** Adds a hook to the orderly end. One that is added during the end still runs. */
  onShutdown(hook: (reason: StopReason) => void | Promise<void>): void;
  /** Replaces the grace time, once it is known from the settings. */
  setGrace(graceMs: number): void;
  /** Ends the process in an orderly way, by default with EXIT.ok. */
  stop(code?: ExitCode): void;
  /** Ends the process in an orderly way because it cannot go on. */
  fail(error: unknown): void;
}

const GRACE_MS_DEFAULT = 5_000;

/** Builds what the process consists of. */
export type ProcessMain<Result> = (context: ProcessContext) => Result | Promise<Result>;

/** Runs a process; returns at once. To be called once, as the last thing of a `main.ts`. */
export function runProcess(options: ProcessOptions, main: ProcessMain<unknown>): void {
  const problem = platformProblem(process.versions.node, process.platform);
  if (problem !== undefined) {
    systemHostProcess.writeError(`${problem}\n`);
    systemHostProcess.exit(EXIT.failure);
  }
  void new ProcessLife(options, systemHostProcess, systemClock).run(main);
}

export class ProcessLife implements ProcessContext {
  readonly #name: string;
  readonly #host: HostProcess;
  readonly #clock: Clock;
  readonly #endsWithParent: boolean;
  readonly #exitCodeOf: (error: unknown) => ExitCode;
  readonly #hooks: ((reason: StopReason) => void | Promise<void>)[] = [];
  #graceMs: number;
  #logger: Logger | undefined;
  #phase: 'running' | 'stopping' | 'exiting' = 'running';

  constructor(options: ProcessOptions, host: HostProcess, clock: Clock) {
    this.#name = options.name;
    this.#host = host;
    this.#clock = clock;
    this.#endsWithParent = options.endsWithParent ?? true;
    this.#exitCodeOf = options.exitCodeOf ?? exitCodeOf;
    this.#graceMs = options.graceMs ?? GRACE_MS_DEFAULT;
  }

  /** Called once. Resolves with what `main` made, or with undefined when the process has failed. */
  async run<Result>(main: ProcessMain<Result>): Promise<Result | undefined> {
    this.#host.setName(this.#name);
    this.#watch();
    let result: Result | undefined;
    try {
      result = await main(this);
    } catch (error) {
      this.fail(error);
    }
    this.#host.handleLoaded();
    return result;
  }

  logTo(logger: Logger): void {
    this.#logger = logger;
  }

  onShutdown(hook: (reason: StopReason) => void | Promise<void>): void {
    this.#hooks.push(hook);
  }

  setGrace(graceMs: number): void {
    this.#graceMs = graceMs;
  }

  stop(code: ExitCode = EXIT.ok): void {
    this.#end('stopped', code);
  }

  fail(error: unknown): void {
    const code = this.#exitCodeOf(error);
    this.#report(`${this.#name} cannot go on: ${messageOf(error)}`, { exitCode: code, error });
    this.#end('failed', code);
  }

  #watch(): void {
    this.#host.watch({
      onSignal: (name) => this.#end(name, EXIT.ok),
      onUncaught: (kind, error) =>
        this.#crash(kind === 'exception' ? 'an exception' : 'a rejection', error),
      onIdle: () => this.#crash('an empty event loop', 'nothing is left to do'),
      onForeignExit: (code, error) => this.#handleForeignExit(code, error),
    });
    if (this.#endsWithParent) this.#host.watchParent(() => this.#end('parent-ended', EXIT.ok));
  }

  #end(reason: StopReason, code: ExitCode): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'stopping';
    this.#logger?.info('the process stops', { reason, exitCode: code });
    const limit = this.#clock.after(this.#graceMs, () => this.#giveUp(reason));
    void this.#runHooks(reason, code, limit);
  }

  async #runHooks(reason: StopReason, code: ExitCode, limit: Timer): Promise<void> {
    let worst = code;
    for (const hook of this.#hooks) {
      if (this.#isExiting()) return;
      try {
        await hook(reason);
      } catch (error) {
        this.#report(`a step of the shutdown failed: ${messageOf(error)}`, { error });
        if (worst === EXIT.ok) worst = EXIT.failure;
      }
    }
    limit.cancel();
    if (!this.#isExiting()) this.#exit(worst);
  }

  #giveUp(reason: StopReason): void {
    this.#report(`the shutdown took longer than ${this.#graceMs} ms`, { reason });
    this.#exit(EXIT.failure);
  }

  #crash(what: string, error: unknown): void {
    if (this.#isExiting()) return;
    const code = this.#exitCodeOf(error);
    this.#report(`${this.#name} ends by ${what}: ${messageOf(error)}`, { exitCode: code, error });
    this.#exit(code);
  }

  #exit(code: ExitCode): void {
    this.#phase = 'exiting';
    this.#host.exit(code);
  }

  #isExiting(): boolean {
    return this.#phase === 'exiting';
  }

  #handleForeignExit(code: number, error: Error): number {
    this.#phase = 'exiting';
    this.#report(`${this.#name} ends because some code called process.exit(${code})`, { error });
    return code === EXIT.ok ? EXIT.userCode : code;
  }

  #report(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#logger?.error(message, fields);
    const detail = fields['error'] === undefined ? '' : `\n${stackOf(fields['error'])}`;
    this.#host.writeError(`${message}${detail}\n`);
  }
}
