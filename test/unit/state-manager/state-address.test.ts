import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import {
  parseStateAddress,
  stateAddressText,
  stateUrl,
  type ZooKeeperStateAddress,
} from '../../../src/state-manager/state-address.ts';

const ZOOKEEPER: ZooKeeperStateAddress = {
  kind: 'zookeeper',
  servers: [{ host: 'zk1', port: 2181 }],
  root: '/heron',
  sessionTimeoutMs: 30_000,
  connectionTimeoutMs: 10_000,
};

const TLS = {
  caFile: '/etc/ca.pem',
  certificateFile: '/etc/own.pem',
  keyFile: '/etc/own key.pem',
  serverName: 'zk.example',
};

describe('the address of a state store', () => {
  const cases: readonly (readonly [text: string, address: object])[] = [
    ['file:///state', { kind: 'file', folder: '/state' }],
    ['file:///with%20space/%C3%A9', { kind: 'file', folder: '/with space/é' }],
    ['zookeeper://zk1/heron', ZOOKEEPER],
    ['zookeeper://zk1:2181/heron/', ZOOKEEPER],
    ['zookeeper://zk1', { ...ZOOKEEPER, root: '' }],
    ['zookeeper://zk1/', { ...ZOOKEEPER, root: '' }],
    [
      'zookeeper://zk1:1,10.0.0.2,[::1]:3/a/b-c_d.e',
      {
        ...ZOOKEEPER,
        servers: [
          { host: 'zk1', port: 1 },
          { host: '10.0.0.2', port: 2181 },
          { host: '::1', port: 3 },
        ],
        root: '/a/b-c_d.e',
      },
    ],
    [
      'zookeeper://zk1/heron?session.timeout.ms=4000&connection.timeout.ms=500&digest.file=%2Fd',
      {
        ...ZOOKEEPER,
        sessionTimeoutMs: 4_000,
        connectionTimeoutMs: 500,
        digestFile: '/d',
      },
    ],
    ['zookeeper://zk1/heron?tls=true', { ...ZOOKEEPER, tls: {} }],
    ['zookeeper://zk1/heron?tls=false', ZOOKEEPER],
    [
      'zookeeper://zk1/heron?tls.ca.file=/etc/ca.pem&tls.certificate.file=/etc/own.pem' +
        '&tls.key.file=/etc/own+key.pem&tls.server.name=zk.example',
      { ...ZOOKEEPER, tls: TLS },
    ],
  ];
  for (const [text, address] of cases) {
    it(`is read and written: ${text}`, () => {
      const parsed = parseStateAddress(text);
      assert.deepEqual(parsed, address);
      assert.deepEqual(parseStateAddress(stateUrl(parsed)), address);
    });
  }

  const wrong: readonly (readonly [text: string, why: RegExp])[] = [
    ['', /it is written file:\/\/\/folder or zookeeper:\/\/host:2181,host:2181\/root$/],
    ['/state', /it is written/],
    ['file:state', /it is written/],
    ['file://elsewhere/state', /it is written|host/],
    ['zookeeper:/zk1', /it is written/],
    ['http://zk1:2181', /it is written/],
    ['zookeeper://', /'' is no host with a port/],
    ['zookeeper://zk1,,zk2', /'' is no host/],
    ['zookeeper://zk1:0', /'zk1:0' is no host/],
    ['zookeeper://zk1:65536', /is no host/],
    ['zookeeper://zk1/a//b', /no path of a ZooKeeper node/],
    ['zookeeper://zk1/a/../b', /no path of a ZooKeeper node/],
    ['zookeeper://zk1/a b', /no path of a ZooKeeper node/],
    ['zookeeper://zk1/zookeeper/x', /kept for the servers/],
    ['zookeeper://zk1/a?session=1', /no option 'session'; there are session\.timeout\.ms/],
    ['zookeeper://zk1/a?session.timeout.ms=0', /whole number of milliseconds/],
    ['zookeeper://zk1/a?session.timeout.ms=soon', /whole number of milliseconds/],
    ['zookeeper://zk1/a?digest.file=digest', /path of a file from the root/],
    ['zookeeper://zk1/a?tls=yes', /tls is 'true' or 'false'/],
    ['zookeeper://zk1/a?tls=false&tls.ca.file=/ca', /tls is false, but it has files/],
    ['zookeeper://zk1/a?tls.key.file=/key', /need each other/],
  ];
  for (const [text, why] of wrong) {
    it(`is refused: ${JSON.stringify(text)}`, () => {
      assert.throws(
        () => parseStateAddress(text),
        (error) =>
          hasCode(error, 'INVALID_ARGUMENT') &&
          error.message.startsWith(`${JSON.stringify(text)} is not the address`) &&
          why.test(error.message),
      );
    });
  }

  it('names no user, and its refusal does not show one', () => {
    assert.throws(
      () => parseStateAddress('zookeeper://ada:engine@zk1:2181/heron'),
      (error) =>
        hasCode(error, 'INVALID_ARGUMENT') &&
        /must not name a user; give a digest file/.test(error.message) &&
        !/ada|engine/.test(error.message),
    );
  });

  it('takes what it does not say itself from elsewhere', () => {
    const defaults = new Map([
      ['session.timeout.ms', '4000'],
      ['digest.file', '/d'],
    ] as const);
    assert.deepEqual(parseStateAddress('zookeeper://zk1/heron?digest.file=/own', defaults), {
      ...ZOOKEEPER,
      sessionTimeoutMs: 4_000,
      digestFile: '/own',
    });
  });

  it('is shown without its options', () => {
    const address = parseStateAddress('zookeeper://zk1,[::1]/heron?digest.file=/d');
    assert.equal(stateAddressText(address), 'zookeeper://zk1:2181,[::1]:2181/heron');
    assert.equal(stateAddressText({ kind: 'file', folder: '/state' }), '/state');
  });
});
