import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { parseStateAddress, stateUrl } from '../../../../src/state-manager/state-address.ts';
import { stateManagerAt } from '../../../support/state-manager-at.ts';
import { bytesOf, textOf } from '../../../support/state-manager-contract.ts';
import { TestAuthority } from '../../../support/tls-certificates.ts';
import { withoutZooKeeper, ZooKeeperServer } from '../../../support/zookeeper-server.ts';
import { aTree, StateTree } from './state-tree.ts';

describe('a ZooKeeper state manager over TLS', { skip: withoutZooKeeper() }, () => {
  it('goes by the files that its address names, as a process gets it', async (t) => {
    const authority = await TestAuthority.create(t, 'authority');
    const identity = await authority.sign('server', 'DNS:zookeeper.test');
    const { bothFile } = await authority.sign('client', 'DNS:client.test');
    const authorityFile = authority.own.certificateFile;
    const server = await ZooKeeperServer.start(t, {
      tls: { identityFile: identity.bothFile, authorityFile },
    });
    const secure = { host: '127.0.0.1', port: server.securePort };
    const tls = { caFile: authorityFile, certificateFile: bothFile, keyFile: bothFile };
    const named = { ...tls, serverName: 'zookeeper.test' };
    const tree = aTree(t, { address: secure }, { tls: named, connectionTimeoutMs: 5_000 });
    const manager = stateManagerAt(parseStateAddress(stateUrl(tree.address)));
    t.after(() => manager.close());
    await manager.write('topologies/words', bytesOf('encrypted'));
    const { tls: _, ...open } = tree.address;
    const direct = new StateTree(t, { ...open, servers: [server.address] }).connect();
    assert.equal(textOf(await direct.read('topologies/words')), 'encrypted');
    // The server's certificate is for another name than the host's.
    const wrong = aTree(t, { address: secure }, { tls, connectionTimeoutMs: 500 }).connect();
    await assert.rejects(
      wrong.read('topologies/words'),
      (error) => hasCode(error, 'STATE_UNAVAILABLE') && error.retryable,
    );
    await rename(authorityFile, `${authorityFile}.gone`);
    const without = new StateTree(t, tree.address).connect();
    await assert.rejects(
      without.read('topologies/words'),
      (error) => hasCode(error, 'FILE_FAILED') && error.message.includes(authorityFile),
    );
  });
});
