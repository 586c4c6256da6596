import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** Knows whether it is a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean };

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: Writable;
  readonly isJson: boolean;
}

type Style = Parameters<typeof styleText>[0];

/**
 * Where a command's words go. With --json standard output holds one value and nothing else; what a
 * person would read on the way is left out.
 */
export class Output {
  readonly isJson: boolean;
  readonly #stdout: OutputStream;
  readonly #stderr: Writable;

  constructor({ stdout, stderr, isJson }: OutputOptions) {
    this.isJson = isJson;
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  /** A line for people. */
  say(line: string): void {
    if (!this.isJson) this.#stdout.write(`${line}\n`);
  }

  /** Something that should not be overlooked, whoever reads standard output. */
  warn(line: string): void {
    this.#stderr.write(`${line}\n`);
  }

  /** Whole lines of data, as they are. */
  write(text: string): void {
    this.#stdout.write(text);
  }

  json(value: object): void {
    this.#stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Shows on a terminal that there is something to wait for. */
  async whileWaiting<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.isTerminal || this.isJson) return work();
    const { default: createSpinner } = await import('yocto-spinner');
    const spinner = createSpinner({ text, stream: this.#stdout, handleSignals: false }).start();
    try {
      return await work();
    } finally {
      spinner.stop();
    }
  }

  /** Colour where there is a terminal that wants it, else the bare text. */
  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout });
  }

  /** The same for what goes to `warn`: standard error may be a file when the other is none. */
  warningStyle(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stderr });
  }
}
