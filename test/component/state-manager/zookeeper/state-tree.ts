import type { TestContext } from 'node:test';
import type { Address } from '../../../../src/net/network.ts';
import type {
  StateManagerChoice,
  StateManagerPorts,
} from '../../../../src/state-manager/state-manager-ports.ts';
import type { ZooKeeperStateAddress } from '../../../../src/state-manager/state-address.ts';
import type { StateManager } from '../../../../src/state-manager/state-manager.ts';
import type { DoomedOwner, StoreUnderTest } from '../../../support/state-manager-contract.ts';
import { stateManagerAt } from '../../../support/state-manager-at.ts';
import { RemoteClient } from '../remote-client.ts';

let trees = 0;

/** A tree of its own on servers that tests share, and everybody who uses it. */
export class StateTree implements StoreUnderTest {
  readonly address: ZooKeeperStateAddress;
  readonly #t: TestContext;

  constructor(t: TestContext, address: ZooKeeperStateAddress) {
    this.#t = t;
    this.address = address;
  }

  /** A manager in the test's own process. */
  connect(ports: Partial<StateManagerPorts> = {}, choice: StateManagerChoice = {}): StateManager {
    const manager = stateManagerAt(this.address, ports, choice);
    this.#t.after(() => manager.close());
    return manager;
  }

  /** A manager in a process of its own. */
  start(): RemoteClient {
    const client = new RemoteClient(this.address);
    this.#t.after(() => client.kill());
    return client;
  }

  async connectDoomed(): Promise<DoomedOwner> {
    const client = this.start();
    return {
      create: (path, bytes, options) => client.call('create', path, bytes, options),
      die: () => client.kill(),
    };
  }
}

export function aTree(
  t: TestContext,
  { address }: { readonly address: Address },
  changes: Partial<ZooKeeperStateAddress> = {},
): StateTree {
  trees += 1;
  return new StateTree(t, {
    kind: 'zookeeper',
    servers: [address],
    root: `/tests/tree-${trees}`,
    sessionTimeoutMs: 20_000,
    connectionTimeoutMs: 10_000,
    ...changes,
  });
}
