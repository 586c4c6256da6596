import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type StateAddress, stateUrl } from '../../../src/state-manager/state-address.ts';
import type { ClientMethods } from './client-process.ts';

export interface ClientCall {
  readonly id: number;
  readonly method: keyof ClientMethods;
  readonly args: readonly unknown[];
}

export type ClientReport =
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
    }
  | { readonly kind: 'told'; readonly path: string; readonly bytes: Uint8Array | undefined };

/** The test's end of a client process. */
export class RemoteClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  /** What the watches of the process were told, in order. */
  readonly told: (Uint8Array | undefined)[] = [];

  constructor(address: StateAddress) {
    this.#child = fork(join(import.meta.dirname, 'client-process.ts'), [stateUrl(address)], {
      serialization: 'advanced',
    });
    this.#child.on('message', (report) => this.#handle(report as ClientReport));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  call<Method extends keyof ClientMethods>(
    method: Method,
    ...args: Parameters<ClientMethods[Method]>
  ): ReturnType<ClientMethods[Method]> {
    this.#calls += 1;
    const waiter = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#calls, waiter);
    this.#child.send({ id: this.#calls, method, args } satisfies ClientCall);
    return waiter.promise as ReturnType<ClientMethods[Method]>;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  #handle(report: ClientReport): void {
    if (report.kind === 'told') {
      this.told.push(report.bytes);
      return;
    }
    const waiter = this.#waiting.get(report.id);
    this.#waiting.delete(report.id);
    if (report.kind === 'done') waiter?.resolve(report.result);
    else waiter?.reject(Object.assign(new Error(report.message), { code: report.code }));
  }
}
