import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { createTlsDialer, type TlsOptions } from '../../../../src/net/tls-dialer.ts';
import {
  type AccessRule,
  CREATOR_ACCESS,
  type Credential,
} from '../../../../src/state-manager/zookeeper/node-records.ts';
import { hasReason } from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { FaultyProxy } from '../../../support/faulty-proxy.ts';
import { type Certificate, TestAuthority } from '../../../support/tls-certificates.ts';
import {
  aClientOf,
  bytes,
  type ClientInTest,
  openClient,
  untilState,
} from '../../../support/zookeeper-client.ts';
import {
  sharedZooKeeper,
  withoutZooKeeper,
  type ZooKeeperServer,
} from '../../../support/zookeeper-server.ts';

interface Identities {
  readonly authority: TestAuthority;
  readonly client: Certificate;
}

const identities = Promise.withResolvers<Identities>();

const zookeeper = sharedZooKeeper(async (t) => {
  const authority = await TestAuthority.create(t, 'authority');
  const server = await authority.sign('server', 'DNS:zookeeper.test,IP:127.0.0.1');
  const client = await authority.sign('client', 'DNS:client.test,IP:127.0.0.1');
  identities.resolve({ authority, client });
  const superDigest = `super:${digestOf('super:secret')}`;
  return {
    properties: { 'zookeeper.DigestAuthenticationProvider.superDigest': superDigest },
    tls: {
      identityFile: server.bothFile,
      authorityFile: authority.own.certificateFile,
    },
  };
});

function digestOf(userAndPassword: string): string {
  return createHash('sha1').update(userAndPassword).digest('base64');
}

const digest = (userAndPassword: string): readonly Credential[] => [
  { scheme: 'digest', secret: bytes(userAndPassword) },
];

const isForbidden = (error: unknown): boolean =>
  hasReason(error, 'NO_PERMISSION') && error.code === 'NOT_AUTHORIZED' && !error.retryable;

describe('a ZooKeeper client that proves who it is', { skip: withoutZooKeeper() }, () => {
  it('has nodes for itself', async (t) => {
    const server = await zookeeper();
    const access = CREATOR_ACCESS;
    const options = { chroot: '/private', access, credentials: digest('heron:right') };
    const owner = await aClientOf(t, [server], options);
    await owner.client.create('/secret', bytes('x'));
    const same = openClient(t, [server], options);
    assert.equal(Buffer.from((await same.client.getData('/secret')).data).toString(), 'x');
    for (const credentials of [[], digest('heron:wrong'), digest('other:right')]) {
      const { client } = openClient(t, [server], { chroot: '/private', credentials });
      await assert.rejects(client.getData('/secret'), isForbidden);
      await assert.rejects(client.setData('/secret', bytes('y')), isForbidden);
      await assert.rejects(client.create('/mine', bytes('y')), isForbidden);
      await assert.rejects(client.delete('/secret'), isForbidden);
    }
    const above = openClient(t, [server], { credentials: digest('super:secret') });
    assert.equal(Buffer.from((await above.client.getData('/private/secret')).data).toString(), 'x');
  });

  it('says who may what, node by node', async (t) => {
    const server = await zookeeper();
    const credentials = digest('heron:right');
    const { client } = await aClientOf(t, [server], { chroot: '/shared', credentials });
    const all = { scheme: 'digest', identity: `heron:${digestOf('heron:right')}`, permissions: 31 };
    const readers = { scheme: 'world', identity: 'anyone', permissions: 1 };
    const access: readonly AccessRule[] = [all, readers];
    await client.create('/page', bytes('x'), { access });
    assert.deepEqual(await client.getAccess('/page'), access);
    const { client: reader } = openClient(t, [server], { chroot: '/shared' });
    assert.equal((await reader.getData('/page')).stat.version, 0);
    await assert.rejects(reader.setData('/page', bytes('y')), isForbidden);
    await client.setAccess('/page', [all]);
    await assert.rejects(reader.getData('/page'), isForbidden);
    await assert.rejects(client.setAccess('/page', []), (error) => {
      return hasReason(error, 'INVALID_ACCESS_LIST');
    });
  });

  it('does so on each connection before anything that waited', async (t) => {
    const server = await zookeeper();
    const proxy = await FaultyProxy.start(t, server.port);
    const options = { access: CREATOR_ACCESS, credentials: digest('heron:right') };
    const mine = await aClientOf(t, [proxy], options);
    await mine.client.create('/secret', bytes('x'));
    proxy.fault = { kind: 'blackhole' };
    proxy.cutNow();
    await untilState(mine, 'suspended');
    const waiting = mine.client.setData('/secret', bytes('y'));
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    assert.equal((await waiting).version, 1);
  });

  it('is over when its scheme is unknown, with all that waits', async (t) => {
    const server = await zookeeper();
    const credentials = [{ scheme: 'nosuch', secret: bytes('x') }];
    const mine = openClient(t, [server], { credentials });
    const waiting = assert.rejects(
      mine.client.sync('/').then(() => mine.client.sync('/')),
      (error) => {
        return hasReason(error, 'AUTHENTICATION_FAILED') && error.code === 'NOT_AUTHORIZED';
      },
    );
    await untilState(mine, 'lost');
    await waiting;
    assert.equal(mine.states.at(-1), 'lost AUTHENTICATION_FAILED');
    await assert.rejects(mine.client.sync('/'), (error) =>
      hasReason(error, 'AUTHENTICATION_FAILED'),
    );
  });
});

describe('a ZooKeeper client over TLS', { skip: withoutZooKeeper() }, () => {
  it('works as over TCP, with large nodes and after a break', async (t) => {
    const server = await zookeeper();
    const proxy = await FaultyProxy.start(t, server.securePort);
    const mine = openClient(t, [proxy], {
      network: createTlsDialer(await trusted()),
      chroot: '/tls',
    });
    await mine.client.createChroot();
    const large = Uint8Array.from({ length: 500_000 }, (_, index) => index % 251);
    await mine.client.create('/large', large);
    assert.deepEqual(new Uint8Array((await mine.client.getData('/large')).data), large);
    await mine.client.getData('/large', mine.watcher);
    proxy.fault = { kind: 'cut', afterBytes: 10_000 };
    await assert.rejects(mine.client.getData('/large'), (error) =>
      hasReason(error, 'CONNECTION_LOST'),
    );
    await mine.client.setData('/large', bytes('small'));
    await eventually(() => assert.deepEqual(mine.told, ['changed /large']));
    await mine.client.close();
  });

  it('accepts a server by the name that it is told to expect', async (t) => {
    const server = await zookeeper();
    const options = { ...(await trusted()), serverName: 'zookeeper.test' };
    const mine = overTls(t, server, options);
    await mine.client.exists('/');
  });

  it('trusts nobody else, and is trusted only with its certificate', async (t) => {
    const server = await zookeeper();
    const right = await trusted();
    const { own: foreign } = await TestAuthority.create(t, 'foreign');
    const { authority, certificate, key } = right;
    const wrong: readonly (readonly [TlsOptions, RegExp])[] = [
      [{ ...right, authority: foreign.certificate }, /unable to verify|self-signed/],
      [{ certificate, key }, /unable to verify|self-signed/],
      [{ ...right, serverName: 'elsewhere.test' }, /elsewhere\.test. is not in the cert/],
      [{ authority }, /alert|closed|broke/],
      [{ authority, certificate: foreign.certificate, key: foreign.key }, /alert|closed|broke/],
    ];
    const refusals = wrong.map(async ([options, why]) => {
      const { client } = overTls(t, server, options, 1_500);
      await assert.rejects(client.exists('/'), (error) => {
        assert.ok(hasReason(error, 'TIMED_OUT') && !error.isUncertain, String(error));
        assert.match(error.message, why);
        return true;
      });
    });
    await Promise.all(refusals);
    assert.throws(
      () => createTlsDialer({ authority: 'no certificate', certificate, key: foreign.key }),
      (error) => hasCode(error, 'INVALID_CONFIG'),
    );
  });

  it('gets nothing from a port without it, and the other way round', async (t) => {
    const server = await zookeeper();
    const secure = { port: server.securePort };
    const plain = openClient(t, [secure], { requestTimeoutMs: 1_000 });
    await assert.rejects(plain.client.exists('/'), (error) => hasReason(error, 'TIMED_OUT'));
    const network = createTlsDialer(await trusted());
    const encrypted = openClient(t, [server], { network, requestTimeoutMs: 1_000 });
    await assert.rejects(encrypted.client.exists('/'), (error) => hasReason(error, 'TIMED_OUT'));
  });
});

async function trusted(): Promise<Required<Omit<TlsOptions, 'serverName'>>> {
  const { authority, client } = await identities.promise;
  return {
    authority: authority.own.certificate,
    certificate: client.certificate,
    key: client.key,
  };
}

function overTls(
  t: TestContext,
  server: ZooKeeperServer,
  options: TlsOptions,
  requestTimeoutMs = 60_000,
): ClientInTest {
  const network = createTlsDialer(options);
  return openClient(t, [{ port: server.securePort }], { network, requestTimeoutMs });
}
