import type { Key } from './view-state.ts';
import type { ScreenSize } from './render.ts';

/*
  The whole screen of a terminal, for as long as a command needs it.

  T1. Whatever ends the process, the person gets back the screen and the keyboard as they were: at
      `close`, at the process's own end for whatever reason, before the report of a fault is
      printed, at signals that nobody else handles, and while it is suspended. SIGKILL alone
      leaves it as it is.
  T2. Keys come one by one, whatever pieces they are read in; what is no key is passed over.
*/

/** What a terminal is read and written by. */
export interface TerminalStreams {
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
}

export interface TerminalInput {
  setRawMode(isRaw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (data: Uint8Array | string) => void): unknown;
  off(event: 'data', listener: (data: Uint8Array | string) => void): unknown;
}

export interface TerminalOutput {
  readonly columns: number;
  readonly rows: number;
  readonly writableNeedDrain: boolean;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The process that the terminal belongs to; `process` itself but in tests. */
export interface TerminalProcess {
  readonly pid: number;
  kill(pid: number, signal: NodeJS.Signals): unknown;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

export interface TerminalEvents {
  readonly onKey: (key: Key) => void;
  /** The size is another one, or the screen was somebody else's meanwhile. */
  readonly onRedraw: () => void;
}

const ENTER = '\u001B[?1049h\u001B[?25l\u001B[2J';
const LEAVE = '\u001B[?25h\u001B[?1049l';
const HOME = '\u001B[H';
const CLEAR_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
/** Terminals that tell no size. */
const SIZE_DEFAULT: ScreenSize = { columns: 80, rows: 24 };
/** Those that would end the process on the spot. */
const DEADLY = ['SIGQUIT', 'SIGABRT', 'SIGUSR2'] as const;
const SUSPEND = '\u001A';

export class Terminal implements Disposable {
  readonly #streams: TerminalStreams;
  readonly #events: TerminalEvents;
  readonly #process: TerminalProcess;
  readonly #listeners: readonly (readonly [string, () => void])[];
  #isEntered = false;
  #isClosed = false;

  constructor(streams: TerminalStreams, events: TerminalEvents, host: TerminalProcess = process) {
    this.#streams = streams;
    this.#events = events;
    this.#process = host;
    this.#listeners = [
      ['exit', () => this.#leave()],
      ['uncaughtExceptionMonitor', () => this.#leave()],
      ['SIGTSTP', () => this.#suspend()],
      ['SIGCONT', () => this.#resume()],
      ...DEADLY.map((signal) => [signal, () => this.#die(signal)] as const),
    ];
    for (const [event, listener] of this.#listeners) host.on(event, listener);
    streams.input.on('data', this.#onData);
    streams.output.on('resize', events.onRedraw);
    this.#enter();
  }

  get size(): ScreenSize {
    const { columns, rows } = this.#streams.output;
    return columns > 0 && rows > 0 ? { columns, rows } : SIZE_DEFAULT;
  }

  /** Lines from the top; what does not fit is the caller's mistake. */
  draw(lines: readonly string[]): void {
    const { output } = this.#streams;
    // One that is slower than we are is not drowned in pictures: it gets the next one.
    if (!this.#isEntered || output.writableNeedDrain) return;
    const text = lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n');
    output.write(`${HOME}${text}${CLEAR_BELOW}`);
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#streams.input.off('data', this.#onData);
    this.#streams.output.off('resize', this.#events.onRedraw);
    for (const [event, listener] of this.#listeners) this.#process.off(event, listener);
    this.#leave();
  }

  readonly #onData = (data: Uint8Array | string): void => {
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    for (const key of keysIn(text)) {
      if (key === 'suspend') this.#suspend();
      else this.#events.onKey(key);
    }
  };

  #enter(): void {
    if (this.#isEntered || this.#isClosed) return;
    this.#isEntered = true;
    this.#streams.input.setRawMode(true);
    this.#streams.input.resume();
    this.#streams.output.write(ENTER);
  }

  #leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    this.#streams.output.write(LEAVE);
    try {
      this.#streams.input.setRawMode(false);
    } catch {
      // The terminal itself has gone.
    }
    this.#streams.input.pause();
  }

  #suspend(): void {
    this.#leave();
    // Not the signal that we listen to: this one stops the process whoever listens.
    this.#process.kill(this.#process.pid, 'SIGSTOP');
  }

  #resume(): void {
    this.#leave();
    this.#enter();
    this.#events.onRedraw();
  }

  #die(signal: NodeJS.Signals): void {
    this[Symbol.dispose]();
    // Nobody listens any more, so that it does what it does.
    this.#process.kill(this.#process.pid, signal);
  }
}

const SEQUENCES: ReadonlyMap<string, Key> = new Map<string, Key>([
  ['\u001B[A', 'up'],
  ['\u001B[B', 'down'],
  ['\u001B[C', 'right'],
  ['\u001B[D', 'left'],
  ['\u001BOA', 'up'],
  ['\u001BOB', 'down'],
  ['\u001BOC', 'right'],
  ['\u001BOD', 'left'],
  ['\u001B[H', 'home'],
  ['\u001B[F', 'end'],
  ['\u001B[1~', 'home'],
  ['\u001B[4~', 'end'],
  ['\u001B[5~', 'page-up'],
  ['\u001B[6~', 'page-down'],
  ['\u001B', 'escape'],
  ['\u007F', 'escape'],
  ['\b', 'escape'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\t', 'tab'],
  ['\u0003', 'interrupt'],
]);

/** A sequence of an arrow or the like; or one letter. */
// oxlint-disable-next-line no-control-regex -- the escape is what such sequences begin with.
const TOKEN = /\u001B\[[0-9;?]*[ -/]*[@-~]|\u001BO.|[\s\S]/gu;

/** Pure (T2). A sequence that is cut in two reads as its letters, which mean little or nothing. */
export function keysIn(text: string): readonly (Key | 'suspend')[] {
  return (text.match(TOKEN) ?? []).flatMap((token): readonly (Key | 'suspend')[] => {
    if (token === SUSPEND) return ['suspend'];
    const known = SEQUENCES.get(token);
    if (known !== undefined) return [known];
    return /^[!-~ ]$/.test(token) ? [{ letter: token }] : [];
  });
}
