import assert from 'node:assert/strict';
import type { HostProcess, HostProcessEvents } from '../../src/base/host-process.ts';

/** A process whose operating system is the test: it keeps what it is told, and goes on living. */
export class ScriptedHostProcess implements HostProcess {
  name = '';
  readonly exitCodes: number[] = [];
  readonly errors: string[] = [];
  isLoaded = false;
  #events: HostProcessEvents | undefined;
  #onParentGone: (() => void) | undefined;

  get events(): HostProcessEvents {
    assert.ok(this.#events !== undefined, 'the process is watched');
    return this.#events;
  }

  get isParentWatched(): boolean {
    return this.#onParentGone !== undefined;
  }

  endParent(): void {
    this.#onParentGone?.();
  }

  setName(name: string): void {
    this.name = name;
  }

  watch(events: HostProcessEvents): void {
    this.#events = events;
  }

  watchParent(onGone: () => void): void {
    this.#onParentGone = onGone;
  }

  exit(code: number): void {
    this.exitCodes.push(code);
  }

  writeError(text: string): void {
    this.errors.push(text);
  }

  handleLoaded(): void {
    this.isLoaded = true;
  }
}
