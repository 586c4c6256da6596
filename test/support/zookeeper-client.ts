import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import type { WatchEvent } from '../../src/state-manager/zookeeper/node-records.ts';
import {
  ZooKeeperClient,
  type ZooKeeperClientOptions,
} from '../../src/state-manager/zookeeper/zookeeper-client.ts';
import { eventually } from './eventually.ts';

export const bytes = (text: string): Uint8Array => Buffer.from(text);

/** A client of a real server, and all that it has been told. */
export interface ClientInTest {
  readonly client: ZooKeeperClient;
  /** `connected`, `suspended`, `lost SESSION_EXPIRED`. */
  readonly states: readonly string[];
  /** Records what a watch tells: `changed /a`. */
  readonly watcher: (event: WatchEvent) => void;
  readonly told: readonly string[];
}

let tests = 0;

/** Has a folder of its own, which is there when this resolves; closed at the end of the test. */
export async function aClientOf(
  t: TestContext,
  servers: readonly { readonly port: number }[],
  options: Partial<ZooKeeperClientOptions> = {},
): Promise<ClientInTest> {
  tests += 1;
  const opened = openClient(t, servers, { chroot: `/test-${tests}`, ...options });
  await opened.client.createChroot();
  return opened;
}

/** As `aClientOf`, in the folder that `options` names, which is not made. */
export function openClient(
  t: TestContext,
  servers: readonly { readonly port: number }[],
  options: Partial<ZooKeeperClientOptions> = {},
): ClientInTest {
  const states: string[] = [];
  const told: string[] = [];
  const client = new ZooKeeperClient({
    servers: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    // Far above what a loaded machine takes for anything; tests about time bring their own.
    sessionTimeoutMs: 30_000,
    requestTimeoutMs: 60_000,
    network: tcpNetwork,
    clock: systemClock,
    random: createSystemRandom(),
    logger: silentLogger,
    onConnected: () => void states.push('connected'),
    onSuspended: () => void states.push('suspended'),
    onLost: ({ reason }) => void states.push(`lost ${reason}`),
    ...options,
  });
  t.after(() => client.close());
  client.open();
  const watcher = ({ kind, path }: WatchEvent): void => void told.push(`${kind} ${path}`);
  return { client, states, told, watcher };
}

/** Waits until the client is in this state. */
export function untilState(
  { client, states }: ClientInTest,
  state: ZooKeeperClient['state'],
): Promise<void> {
  return eventually(
    () => {
      if (client.state !== state) throw new Error(`it is ${client.state} after ${states.join()}`);
    },
    { timeoutMs: 60_000 },
  );
}
