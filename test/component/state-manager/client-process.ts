import type { TopologyId } from '../../../src/base/ids.ts';
import type { ClientCall, ClientReport } from './remote-client.ts';
import { parseStateAddress } from '../../../src/state-manager/state-address.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';

/* A state manager in a process of its own, driven by a RemoteClient over the IPC channel. */

const manager = stateManagerAt(parseStateAddress(process.argv[2] ?? ''));

const methods = {
  create: (path: string, bytes: Uint8Array, options: { ephemeral: boolean }): Promise<void> =>
    manager.create(path, bytes, options),
  replace: (path: string, expected: Uint8Array | undefined, bytes: Uint8Array): Promise<void> =>
    manager.replace(path, expected, bytes),
  async watch(path: string): Promise<void> {
    manager.watch(path, (bytes) => report({ kind: 'told', path, bytes }));
  },
  async epochs(topology: TopologyId, count: number): Promise<readonly number[]> {
    const epochs: number[] = [];
    while (epochs.length < count) epochs.push(await manager.nextEpoch(topology));
    return epochs;
  },
  /** Writes until it is killed: each time `length` bytes of one value. */
  async hammer(path: string, length: number): Promise<void> {
    for (let round = 0; ; round += 1) {
      await manager.write(path, new Uint8Array(length).fill(round));
    }
  },
};
export type ClientMethods = typeof methods;

function report(message: ClientReport): void {
  process.send?.(message);
}

async function perform({ id, method, args }: ClientCall): Promise<void> {
  try {
    const call = methods[method] as (...values: readonly unknown[]) => Promise<unknown>;
    report({ kind: 'done', id, result: await call(...args) });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    report({ kind: 'failed', id, code: code ?? '', message });
  }
}

process.on('message', (call: ClientCall) => void perform(call));
process.on('disconnect', () => process.exit(0));
