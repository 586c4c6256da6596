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

import { flushCompileCache } from 'node:module';
import { systemClock, type Timer } from './clock.ts';
import { messageOf, stackOf } from './errors.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { writeToStandardError } from './log-file.ts';
import type { Logger } from './logger.ts';
import { isPipe } from './pipe.ts';
import { platformProblem } from './platform.ts';

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

/** Runs a process; returns at once. To be called once, as the last thing of a `main.ts`. */
export function runProcess(
  options: ProcessOptions,
  main: (context: ProcessContext) => void | Promise<void>,
): void {
  const problem = platformProblem(process.versions.node, process.platform);
  if (problem !== undefined) {
    writeToStandardError(`${problem}\n`);
    process.exit(EXIT.failure);
  }
  process.title = [options.name, ...process.argv.slice(2)].join(' ');
  const life = new ProcessLife(options);
  life.watch();
  void life.start(main);
}

class ProcessLife implements ProcessContext {
  readonly #name: string;
  readonly #endsWithParent: boolean;
  readonly #exitCodeOf: (error: unknown) => ExitCode;
  readonly #hooks: ((reason: StopReason) => void | Promise<void>)[] = [];
  #graceMs: number;
  #logger: Logger | undefined;
  #phase: 'running' | 'stopping' | 'exiting' = 'running';

  constructor(options: ProcessOptions) {
    this.#name = options.name;
    this.#endsWithParent = options.endsWithParent ?? true;
    this.#exitCodeOf = options.exitCodeOf ?? exitCodeOf;
    this.#graceMs = options.graceMs ?? GRACE_MS_DEFAULT;
  }

  watch(): void {
    process.on('SIGTERM', () => this.#end('SIGTERM', EXIT.ok));
    process.on('SIGINT', () => this.#end('SIGINT', EXIT.ok));
    process.on('uncaughtException', (error) => this.#crash('an exception', error));
    process.on('unhandledRejection', (error) => this.#crash('a rejection', error));
    process.on('beforeExit', () => this.#crash('an empty event loop', 'nothing is left to do'));
    process.on('exit', (code) => this.#handleForeignExit(code));
    if (this.#endsWithParent && isPipe(0)) {
      const onEnd = (): void => this.#end('parent-ended', EXIT.ok);
      process.stdin.on('end', onEnd).on('close', onEnd).on('error', onEnd).resume().unref();
    }
  }

  async start(main: (context: ProcessContext) => void | Promise<void>): Promise<void> {
    try {
      await main(this);
    } catch (error) {
      this.fail(error);
    }
    // Engine processes are killed more often than they end, and killed ones write no cache.
    flushCompileCache();
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

  #end(reason: StopReason, code: ExitCode): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'stopping';
    this.#logger?.info('the process stops', { reason, exitCode: code });
    const limit = systemClock.after(this.#graceMs, () => this.#giveUp(reason));
    void this.#runHooks(reason, code, limit);
  }

  async #runHooks(reason: StopReason, code: ExitCode, limit: Timer): Promise<void> {
    let worst = code;
    for (const hook of this.#hooks) {
      try {
        await hook(reason);
      } catch (error) {
        this.#report(`a step of the shutdown failed: ${messageOf(error)}`, { error });
        if (worst === EXIT.ok) worst = EXIT.failure;
      }
    }
    limit.cancel();
    this.#exit(worst);
  }

  #giveUp(reason: StopReason): void {
    this.#report(`the shutdown took longer than ${this.#graceMs} ms`, { reason });
    this.#exit(EXIT.failure);
  }

  #crash(what: string, error: unknown): void {
    if (this.#phase === 'exiting') return;
    const code = this.#exitCodeOf(error);
    this.#report(`${this.#name} ends by ${what}: ${messageOf(error)}`, { exitCode: code, error });
    this.#exit(code);
  }

  #exit(code: ExitCode): void {
    this.#phase = 'exiting';
    process.exit(code);
  }

  #handleForeignExit(code: number): void {
    if (this.#phase === 'exiting') return;
    // This runs inside of that call: the stack behind it leads to the caller.
    const error = new Error(`process.exit(${code}) was called`);
    // oxlint-disable-next-line typescript/unbound-method -- Its frames are left out, not called.
    Error.captureStackTrace(error, process.exit);
    this.#report(`${this.#name} ends because some code called process.exit(${code})`, { error });
    if (code === EXIT.ok) process.exitCode = EXIT.userCode;
  }

  #report(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#logger?.error(message, fields);
    const detail = fields['error'] === undefined ? '' : `\n${stackOf(fields['error'])}`;
    writeToStandardError(`${message}${detail}\n`);
  }
}
