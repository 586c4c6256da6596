import assert from 'node:assert/strict';
import type { ProcessIdentity } from '../../src/base/process-identity.ts';
import type { ProcessTable } from '../../src/supervision/process-table.ts';

export interface SentSignal {
  readonly pid: number;
  readonly name: string;
  readonly group: boolean;
}

const OWN: ProcessIdentity = { bootId: 'boot', pid: 1, startTicks: 1 };

/** Processes of the test's own, which die when it says so or by the signals that they heed. */
export class ScriptedProcessTable implements ProcessTable {
  readonly signals: SentSignal[] = [];
  /** What `lastLinesOf` tells of each output file. */
  readonly output = new Map<string, readonly string[]>();
  readonly #living = new Map<number, { identity: ProcessIdentity; diesBy: readonly string[] }>();
  #marks: readonly (readonly [string, ProcessIdentity])[] = [];

  /** A process comes to life that dies by these signals. */
  add(pid: number, diesBy: readonly string[] = ['SIGTERM', 'SIGKILL']): ProcessIdentity {
    const identity = { bootId: OWN.bootId, pid, startTicks: pid * 10 };
    this.#living.set(pid, { identity, diesBy });
    return identity;
  }

  /** `text` is `NAME=value`. */
  mark(identity: ProcessIdentity, text: string): void {
    this.#marks = [...this.#marks, [text, identity]];
  }

  end(pid: number): void {
    this.#living.delete(pid);
  }

  own(): ProcessIdentity {
    return OWN;
  }

  identityOf(pid: number): ProcessIdentity | undefined {
    return this.#living.get(pid)?.identity;
  }

  isAlive({ pid, startTicks }: ProcessIdentity): boolean {
    return this.identityOf(pid)?.startTicks === startTicks;
  }

  signal(pid: number, name: string, { group = false } = {}): void {
    this.signals.push({ pid, name, group });
    if (!group && this.#living.get(pid)?.diesBy.includes(name) === true) this.end(pid);
  }

  findByVariable(name: string, value: string): readonly ProcessIdentity[] {
    return this.#marks
      .filter(([text, identity]) => text === `${name}=${value}` && this.isAlive(identity))
      .map(([, identity]) => identity);
  }

  lastLinesOf(outputFile: string): readonly string[] {
    return this.output.get(outputFile) ?? [];
  }

  startDependent(): never {
    assert.fail('nothing is started here');
  }

  startDetached(): never {
    assert.fail('nothing is started here');
  }
}
