import { assertDefined } from '../../base/assert.ts';
import type { HostProcess, HostProcessEvents } from '../../base/host-process.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import { LineTail } from '../../supervision/line-tail.ts';
import { LAST_LINES_MAX } from '../../supervision/process-handle.ts';
import type { Command, SignalName } from '../../supervision/process-table.ts';
import type { Gateway } from '../../instance/gateway/gateway.ts';
import type { SimulatedThread } from '../kernel/simulated-thread.ts';

/*
  One process of the simulated machine: its threads, its signals, its standard input, its end. What
  it runs is not its concern (programs.ts).

  P1. A dead process does nothing more: its threads are dead, and all their ports with them. Code
      that is in the middle of an event when its process ends goes on to the end of that event in
      vain.
  P2. Others hear of its end in events of their own, never inside of the call that ended it.
  P3. Signals are heard by the main thread, in order with its other events; SIGKILL needs nobody to
      hear it. A process that does not listen yet is ended by SIGTERM too.
*/

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: SignalName | null;
  readonly lastLines: readonly string[];
}

export type ProcessState = 'running' | 'paused' | 'ended';

type FailureKind = 'exception' | 'rejection';

export type OnThreadFailure = (error: unknown, kind: FailureKind) => void;

export interface SimulatedProcessOptions {
  readonly command: Command;
  readonly identity: ProcessIdentity;
  /** The address that its connections come from. */
  readonly host: string;
  readonly createThread: (name: string, onFailure: OnThreadFailure) => SimulatedThread;
  /** Gets what it writes to standard output and error. */
  readonly onOutput: (text: string) => void;
  /** Called once, when it is dead. */
  readonly onEnded: (process: SimulatedProcess, end: ProcessEnd) => void;
}

/** What an operating system needs to tell somebody who waits. */
const NEWS_MS = 0.05;

export class SimulatedProcess implements HostProcess {
  readonly command: Command;
  readonly identity: ProcessIdentity;
  readonly host: string;
  readonly mainThread: SimulatedThread;
  /** What its main function returned, whose public getters checkers look at. */
  object: object | undefined;
  /** Of an instance: what its second thread consists of. */
  gateway: Gateway | undefined;
  readonly #options: SimulatedProcessOptions;
  readonly #threads: SimulatedThread[] = [];
  readonly #output = new LineTail(LAST_LINES_MAX);
  #inputEnds: (() => void)[] = [];
  #endings: (() => void)[] = [];
  #events: HostProcessEvents | undefined;
  #state: ProcessState = 'running';
  #hasInputEnded = false;
  #beats = 0;
  #end: ProcessEnd | undefined;

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
    this.command = options.command;
    this.identity = options.identity;
    this.host = options.host;
    this.mainThread = this.startThread(options.command.name);
  }

  get name(): string {
    return this.command.name;
  }

  get pid(): number {
    return this.identity.pid;
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** The main thread is the first. */
  get threads(): readonly SimulatedThread[] {
    return this.#threads;
  }

  /** Undefined while it lives. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  get lastLines(): readonly string[] {
    return this.#output.lines();
  }

  /** What the thread throws ends the process, unless somebody else takes care of it. */
  startThread(
    name: string,
    onFailure: OnThreadFailure = (error, kind) => this.#handleUncaught(error, kind),
  ): SimulatedThread {
    const thread = this.#options.createThread(name, onFailure);
    this.#threads.push(thread);
    if (this.#state === 'paused') thread.pause();
    if (this.#state === 'ended') thread.kill();
    return thread;
  }

  /** How many beats it has given to whoever started it. */
  get beats(): number {
    return this.#beats;
  }

  /** A thread of it beats from now on, for as long as its events run. */
  startBeating(thread: SimulatedThread, periodMs: number): void {
    const beat = (): void => {
      this.#beats += 1;
    };
    beat();
    thread.clock.every(periodMs, beat);
  }

  setName(): void {}

  handleLoaded(): void {}

  watch(events: HostProcessEvents): void {
    this.#events = events;
  }

  watchParent(onGone: () => void): void {
    this.onInputEnd(this.mainThread, onGone);
  }

  writeError(text: string): void {
    if (this.#state === 'ended') return;
    this.#output.append(Buffer.from(text));
    this.#options.onOutput(text);
  }

  exit(code: number): void {
    this.#finish(code, null);
  }

  /** Calls in an event of `thread` once nobody holds the other end of standard input any more. */
  onInputEnd(thread: SimulatedThread, call: () => void): void {
    const notify = (): void => void thread.post(NEWS_MS, call);
    if (this.#hasInputEnded) notify();
    else this.#inputEnds.push(notify);
  }

  /** Calls in an event of `thread` once this process is dead. */
  onEnd(thread: SimulatedThread, call: (end: ProcessEnd) => void): void {
    const notify = (): void => {
      const end = assertDefined(this.#end, 'only a dead process notifies');
      thread.post(NEWS_MS, () => call(end));
    };
    if (this.#end === undefined) this.#endings.push(notify);
    else notify();
  }

  endInput(): void {
    if (this.#hasInputEnded) return;
    this.#hasInputEnded = true;
    const notifications = this.#inputEnds;
    this.#inputEnds = [];
    for (const notify of notifications) notify();
  }

  signal(name: SignalName): void {
    if (name === 'SIGKILL') this.#finish(null, name);
    else this.mainThread.post(NEWS_MS, () => this.#handleTerminate());
  }

  /** As SIGSTOP does: it lives, but nothing of it runs. */
  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    for (const thread of this.#threads) thread.pause();
  }

  /** As SIGCONT does. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    for (const thread of this.#threads) thread.resume();
  }

  #handleTerminate(): void {
    if (this.#events === undefined) this.#finish(null, 'SIGTERM');
    else this.#events.onSignal('SIGTERM');
  }

  #handleUncaught(error: unknown, kind: FailureKind): void {
    if (this.#state === 'ended') return;
    if (this.#events === undefined) this.exit(1);
    else this.#events.onUncaught(kind, error);
  }

  #finish(code: number | null, signal: SignalName | null): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#end = { code, signal, lastLines: this.lastLines };
    for (const thread of this.#threads) thread.kill();
    this.#options.onEnded(this, this.#end);
    const notifications = this.#endings;
    this.#endings = [];
    for (const notify of notifications) notify();
  }
}
